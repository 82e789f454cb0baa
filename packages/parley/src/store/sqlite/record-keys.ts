/**
 * A record's key is one integer: its task, and in the lower 31 bits its sequence number. So the records of a task lie together
 * and in order, and a new one goes in by comparing integers, however long its neighbours are.
 */
export const RECORD_KEY = '(? << 31) | ?';

/** The sequence number in a key. */
export const SEQ_OF_KEY = 'key & 0x7fffffff';

/** Records of the task `?1`. */
export const OF_TASK = 'key >= ?1 << 31 AND key < (?1 + 1) << 31';

/** Records of the task `?1` after the sequence number `?2`. */
export const AFTER_SEQ = 'key > (?1 << 31) | ?2 AND key < (?1 + 1) << 31';

/** Records of the task `?1` below the sequence number `?2`. */
export const BELOW_SEQ = 'key >= ?1 << 31 AND key < (?1 << 31) | ?2';
