/** Writes a line of a node's log; `warn`: somebody should look. */
export type NodeLog = (fields: object, text: string, level?: 'warn') => void;
