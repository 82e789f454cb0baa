export type { TypeName } from '../model/type-table.generated.js';
export { type Violation, violationsOf } from '../model/violations.js';
