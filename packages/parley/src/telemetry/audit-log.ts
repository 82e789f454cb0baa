/**
 * One action of a caller or of the operator's code, for an audit. It contains no content of messages, no credential and
 * no query string.
 */
export interface AuditRecord {
  /** The id of the record: a UUID that no caller can choose. */
  readonly id: string;
  /** The time of the answer, ISO 8601. */
  readonly time: string;
  /** `refused`: the caller has no permission, or sent an invalid request. `failed`: the server has failed. */
  readonly outcome: 'done' | 'refused' | 'failed';
  /** The code of the error, such as `TASK_NOT_FOUND`; `OK` without one; `HTTP_404` if only a status is known. */
  readonly code: string;
  /** The HTTP status of the answer. Absent for an action of the operator's code. */
  readonly status?: number;
  /**
   * `anonymous`: no user is known, even if the request had a credential that was refused. `operator`: code in the
   * process of the server, or the command line on its database.
   */
  readonly principal: { readonly kind: 'user'; readonly id: string } | { readonly kind: 'anonymous' | 'operator' };
  /** The address of the client, from headers of trusted proxies if there are any. */
  readonly address?: string;
  /** The id of the agent's task space. */
  readonly agent?: string;
  readonly tenant?: string;
  /** The push configuration that was replayed or purged. */
  readonly configId?: string;
  /**
   * The operation of the protocol, or `replayDelivery`, `purgeDelivery`, `resealConfigs`, `exportOwner`, `eraseOwner`,
   * `uploadFile`, `beginUpload`, `appendToUpload`, `readFile` or `deleteFile`.
   */
  readonly operation?: string;
  /**
   * The user whose data an operator exports or erases: `sha256:` with the hash of the id in hex, or `anonymous`. The id
   * itself would remain here after its erasure.
   */
  readonly owner?: string;
  /** An export or an erasure writes one record at its beginning and one at its end. */
  readonly phase?: 'begin' | 'end';
  /** Counts of exported or erased things, such as `tasks` and `files`. */
  readonly counts?: Readonly<Record<string, number>>;
  readonly fileId?: string;
  /** Bytes of a file that the request has stored, or the answer contains. */
  readonly bytes?: number;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly binding?: string;
  /** The version of the protocol. */
  readonly version?: string;
  /** Absent for an action of the operator's code, like `path`. */
  readonly method?: string;
  /** The path of the request without its query, cut at 200 characters. */
  readonly path?: string;
  /** The id of the request in the log. */
  readonly requestId?: string;
  /** The id of the trace, if the server has tracing. A caller with a `traceparent` chose it. */
  readonly traceId?: string;
  /** The `X-Request-Id` that the caller chose. It is not trustworthy. */
  readonly callerRequestId?: string;
}

/** A range of an audit log, latest record first. Default: from the end. */
export interface AuditRange {
  readonly cursor?: string;
  readonly limit: number;
  readonly isWanted: (record: AuditRecord) => boolean;
}

/** Records of a range. */
export interface AuditPage {
  /** Fewer than the limit if the page has read the maximum number of bytes. */
  readonly records: readonly AuditRecord[];
  /** Number of read lines that are no records. */
  readonly unreadable: number;
  /** The cursor of the next page; absent at the end. */
  readonly next?: string;
}

/** The destination of audit records. */
export interface AuditLog {
  /**
   * True if an answer is sent only after its record was written. While records cannot be written, the server refuses
   * calls with UNAVAILABLE. Default: calls continue, and the failure is logged.
   */
  readonly required?: boolean;
  /**
   * Resolves when the record is written. Rejects if it is lost. Called once for each action, in the order of answers.
   */
  write(record: AuditRecord): void | Promise<void>;
  /**
   * Reads records for operators. Returns `undefined` for an invalid cursor, or one whose records were deleted. Absent:
   * the records cannot be read.
   */
  read?(range: AuditRange): Promise<AuditPage | undefined>;
}
