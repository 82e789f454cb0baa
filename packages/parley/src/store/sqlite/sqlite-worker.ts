import { parentPort, workerData } from 'node:worker_threads';
import { openForReading, openForWriting } from './open-file.js';
import type { Operation, Settled } from './operations.js';
import { readAbandoned, readPage } from './read-lists.js';
import { ReadTables } from './read-tables.js';
import { readRecords } from './read-task.js';
import { SqliteWriter } from './sqlite-writer.js';
import { textOf } from './task-texts.js';
import type { FromWorker, ReadRequest, ToWorker, WorkerTask } from './worker-messages.js';
import { WriteTables } from './write-tables.js';

// A thread of its own for a file: the one that writes it, or one for reads that may take long. Started by SqliteStorage.

interface Role {
  answer(request: readonly Operation[] | ReadRequest): Settled | readonly Settled[];
  close(): void;
}

function writer(task: Extract<WorkerTask, { role: 'writer' }>): Role {
  const file = openForWriting(task);
  const sqliteWriter = new SqliteWriter(new WriteTables(file.db));
  sqliteWriter.voidLeases();
  return {
    answer: (request) => sqliteWriter.write(request as readonly Operation[]),
    close: () => file.close(),
  };
}

function reader(path: string): Role {
  const tables = new ReadTables(openForReading(path));
  return {
    answer(request) {
      try {
        return [false, read(tables, request as ReadRequest)];
      } catch (error) {
        return [true, String(error)];
      }
    },
    close: () => tables.close(),
  };
}

function read(tables: ReadTables, request: ReadRequest): unknown {
  switch (request.read) {
    case 'page':
      return readPage(tables, request.query);
    case 'abandoned':
      return readAbandoned(tables, request);
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
    role = task.role === 'writer' ? writer(task) : reader(task.path);
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
      const [id, request] = message;
      send(['answer', id, role.answer(request)]);
    }
  });
  send(['ready']);
}

serve();
