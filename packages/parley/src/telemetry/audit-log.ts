/**
 * One act of a caller or of the operator's code, for an audit. It holds no content of messages, no credential and no
 * query.
 */
export interface AuditRecord {
  /** The id of the record: a UUID that no caller can choose. */
  readonly id: string;
  /** The time of the answer, ISO 8601. */
  readonly time: string;
  /** `refused`: the caller may not do it, or did it wrong. `failed`: the server could not do it. */
  readonly outcome: 'done' | 'refused' | 'failed';
  /** The code of the error, such as `TASK_NOT_FOUND`; `OK` without one; `HTTP_404` if only a status is known. */
  readonly code: string;
  /** The HTTP status of the answer. Absent for an act of the operator's code. */
  readonly status?: number;
  /**
   * `anonymous`: no user is known, also if the credential of the request was refused. `operator`: code in the process
   * of the server, or the command line on its database.
   */
  readonly principal: { readonly kind: 'user'; readonly id: string } | { readonly kind: 'anonymous' | 'operator' };
  /** The address of the client, as far as trusted proxies tell it. */
  readonly address?: string;
  /** The id of the agent's task space. */
  readonly agent?: string;
  readonly tenant?: string;
  /** The push configuration of a replay or a purge. */
  readonly configId?: string;
  /**
   * The operation of the protocol, or `replayDelivery`, `purgeDelivery`, `resealConfigs`, `exportOwner`, `eraseOwner`,
   * `uploadFile`, `beginUpload`, `appendToUpload`, `readFile` or `deleteFile`.
   */
  readonly operation?: string;
  /**
   * The user whose data an operator exports or erases: `sha256:` with the hash of the id in hex, or `anonymous`. The id
   * itself would outlive its erasure here.
   */
  readonly owner?: string;
  /** An export or an erasure has a record at its beginning and one at its end. */
  readonly phase?: 'begin' | 'end';
  /** Counts of exported or erased things, such as `tasks` and `files`. */
  readonly counts?: Readonly<Record<string, number>>;
  readonly fileId?: string;
  /** Bytes of a file that the request has stored, or that its answer has. */
  readonly bytes?: number;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly binding?: string;
  /** The version of the protocol. */
  readonly version?: string;
  /** Absent for an act of the operator's code, like `path`. */
  readonly method?: string;
  /** The path of the request without its query, cut at 200 characters. */
  readonly path?: string;
  /** The id of the request in the log. */
  readonly requestId?: string;
  /** The id of the trace, if the server has tracing. A caller with a `traceparent` chose it. */
  readonly traceId?: string;
  /** The `X-Request-Id` that the caller chose. It proves nothing. */
  readonly callerRequestId?: string;
}

/** A stretch of an audit log, the last record first. Default: from its end. */
export interface AuditRange {
  readonly cursor?: string;
  readonly limit: number;
  readonly isWanted: (record: AuditRecord) => boolean;
}

/** Records of a range. */
export interface AuditPage {
  /** Fewer than the limit if the page has read as much as it may. */
  readonly records: readonly AuditRecord[];
  /** Lines on the way that are no records. */
  readonly unreadable: number;
  /** The cursor of the rest; absent at the end. */
  readonly next?: string;
}

/** The place of audit records. */
export interface AuditLog {
  /**
   * True if no caller gets an answer whose record was not written. The server then refuses calls with UNAVAILABLE while
   * records cannot be written. Default: calls go on, and the log of the server tells of the failure.
   */
  readonly required?: boolean;
  /** Resolves when the record is written. Rejects if it is lost. Called once for each act, in the order of answers. */
  write(record: AuditRecord): void | Promise<void>;
  /**
   * Reads records for operators. `undefined` for a cursor that no page gave, or whose records are gone. Absent: the
   * records cannot be read.
   */
  read?(range: AuditRange): Promise<AuditPage | undefined>;
}
