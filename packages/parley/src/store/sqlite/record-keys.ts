/**
 * The key of a row of records is one integer. Its upper bits are the number of the task, its lower 31 bits the sequence
 * number of the last record. So the rows of a task are adjacent and ordered, and an insert compares only integers.
 */
export const RECORD_KEY = '(? << 31) | ?';

/** The sequence number in a key. */
export const SEQ_OF_KEY = 'key & 0x7fffffff';

// Node.js 22 cannot bind numbered parameters, so the number of the task is bound twice.

/** Condition for the rows of a task. Values: task, task. */
export const OF_TASK = 'key >= ? << 31 AND key < (? + 1) << 31';

/**
 * Condition for the rows with records after a sequence number; the first row may also contain earlier ones. Values:
 * task, number, task.
 */
export const AFTER_SEQ = 'key > (? << 31) | ? AND key < (? + 1) << 31';

/** Condition for the rows of a task with only records below a sequence number. Values: task, task, number. */
export const BELOW_SEQ = 'key >= ? << 31 AND key < (? << 31) | ?';
