export { MemoryStorage, type MemoryStorageOptions } from '../store/memory/memory-storage.js';
export { LogRecord, type LogRecordExtras } from '../task/log-record.js';
export { TaskBuilder, type TaskHead } from '../task/task-builder.js';
