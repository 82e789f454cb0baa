/** The authors of messages. The position is the protobuf number (Spec §4.1.5). */
export const ROLES = ['ROLE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT'] as const;
export type Role = (typeof ROLES)[number];
