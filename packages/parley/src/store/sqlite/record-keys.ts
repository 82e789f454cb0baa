/**
 * The key of a row of records is one integer: their task, and in the lower 31 bits the sequence number of the last one.
 * The rows of a task lie together and in order. An insert compares only integers, even beside long rows.
 */
export const RECORD_KEY = '(? << 31) | ?';

/** The sequence number in a key. */
export const SEQ_OF_KEY = 'key & 0x7fffffff';

// Node.js 22 binds no numbered parameters, so a task is given twice.

/** Rows of a task; takes the task, and the task again. */
export const OF_TASK = 'key >= ? << 31 AND key < (? + 1) << 31';

/**
 * Rows with records after a sequence number; the first one may have records up to it as well. Takes the task, the
 * number, and the task again.
 */
export const AFTER_SEQ = 'key > (? << 31) | ? AND key < (? + 1) << 31';

/** Rows of a task whose records are all below a sequence number; takes the task, the task again, and the number. */
export const BELOW_SEQ = 'key >= ? << 31 AND key < (? << 31) | ?';
