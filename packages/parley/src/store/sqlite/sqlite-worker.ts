import { parentPort, workerData } from 'node:worker_threads';
import { fileFault } from './file-fault.js';
import { writeForeign } from './foreign-batches.js';
import { cannotOpen, openForReading, openForWriting } from './open-file.js';
import { checkInPlace, FileWatch, openedFiles } from './opened-files.js';
import { readDeliveries } from './read-deliveries.js';
import { readAbandoned, readPage } from './read-lists.js';
import { readOwnedTasks } from './read-owned-tasks.js';
import { ReadTables } from './read-tables.js';
import { readRecords } from './read-task.js';
import { SqliteWriter } from './sqlite-writer.js';
import { textOf } from './task-texts.js';
import type { FromWorker, ReadRequest, ToWorker, WorkerAnswer, WorkerRequest, WorkerTask } from './worker-messages.js';
import type { Settled, WriteRequest } from './write-requests.js';
import { WriteTables } from './write-tables.js';

// The entry of a worker thread: the writer of a file, or a reader for long reads. Started by SqliteStorage.

interface Role {
  answer(request: WorkerRequest, again: boolean): WorkerAnswer;
  close(): void;
}

function writer(
  { path, durability, files, leases, limits }: Extract<WorkerTask, { role: 'writer' }>,
  send: (message: FromWorker) => void,
): Role {
  if (files !== undefined) checkInPlace(files);
  const db = openForWriting({ path, durability });
  try {
    const sqliteWriter = new SqliteWriter({
      path,
      tables: new WriteTables(db, { limits, onAside: (row, reason) => send(['aside', row, reason]) }),
      watch: new FileWatch(path, files ?? openedFiles(path)),
      onHealth: (fault) => send(['health', fault]),
    });
    if (files === undefined && leases === 'void') sqliteWriter.voidLeases();
    return {
      answer: (request, again) =>
        'batches' in request
          ? writeForeign(sqliteWriter, request, again)
          : sqliteWriter.write(request as readonly WriteRequest[], again),
      close: () => db.close(),
    };
  } catch (error) {
    db.close();
    throw cannotOpen(path, error);
  }
}

function reader({ path, files }: Extract<WorkerTask, { role: 'reader' }>, send: (message: FromWorker) => void): Role {
  checkInPlace(files);
  const tables = new ReadTables(openForReading(path, 'thread'), (row, reason) => send(['aside', row, reason]));
  const settle = (work: () => unknown): Settled => {
    try {
      return [false, work()];
    } catch (error) {
      return [true, fileFault(path, error).text, false];
    }
  };
  return {
    answer: (request) =>
      'pages' in request
        ? request.pages.map((query) => settle(() => readPage(tables, query)))
        : settle(() => read(tables, request as ReadRequest)),
    close: () => tables.close(),
  };
}

function read(tables: ReadTables, request: ReadRequest): unknown {
  switch (request.read) {
    case 'abandoned':
      return readAbandoned(tables, request);
    case 'owned':
      return readOwnedTasks(tables, request.range, request.now);
    case 'deliveries':
      return readDeliveries(tables, request.query);
    case 'records': {
      const { records, floor, last } = readRecords(tables, request);
      const texts = records.map(({ seq, turn, text, history, metadata }) => [
        seq,
        turn,
        text,
        textOf(history),
        textOf(metadata),
      ]);
      return { records: texts, floor, last };
    }
  }
}

function serve(): void {
  const port = parentPort;
  if (port === null) throw new Error('This file is started as a worker by SqliteStorage');
  const send = (message: FromWorker) => port.postMessage(message);
  const task = workerData as WorkerTask;
  let role: Role;
  try {
    role = task.role === 'writer' ? writer(task, send) : reader(task, send);
  } catch (error) {
    send(['failed', error instanceof Error ? error.message : String(error)]);
    port.close();
    return;
  }
  port.on('message', (message: ToWorker) => {
    if (message === 'close') {
      role.close();
      port.close();
    } else {
      const [id, request, again] = message;
      send(['answer', id, role.answer(request, again)]);
    }
  });
  send(['ready']);
}

serve();
