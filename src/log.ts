/** The log: JSON lines on standard output, of the same shape from the service, its threads and sender nodes. */
import { hostname } from 'node:os';
import type { Config } from './config.ts';

/**
 * error: somebody must act; warn: the program goes on by itself, but somebody should look if the line recurs; info:
 * what happened. The log lines have pino's number of the level (https://github.com/pinojs/pino/blob/main/docs/api.md#level-string).
 */
const LEVELS = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 };
export type LogLevel = 'info' | 'warn' | 'error';

/** Logs a line, by default at level info. Never give it secrets, tokens or bodies of mails. */
export type Log = (fields: object, text: string, level?: LogLevel) => void;

interface LoggedError {
  [key: string]: unknown;
  type: string;
  message: string;
  stack: string;
}

/** Returns what is logged of an error and its causes. A value that is not an Error, such as the text of one, becomes the message. */
export function loggedError(error: unknown): LoggedError {
  if (!(error instanceof Error)) return { type: 'Error', message: String(error), stack: '' };
  const { name, message, stack = '', cause } = error;
  const earlier = cause instanceof Error ? loggedError(cause) : null;
  return {
    type: name,
    message: earlier === null ? message : `${message}: ${earlier.message}`,
    stack: earlier === null ? stack : `${stack}\ncaused by ${earlier.stack}`,
    ...('code' in error && { code: error.code }),
  };
}

/** The log of a process, or of a part of its start, that has no HTTP server whose log it could use. */
export function processLog({ LOG_LEVEL }: Pick<Config, 'LOG_LEVEL'>): Log {
  const common = { pid: process.pid, hostname: hostname() };
  return (fields, text, level = 'info') => {
    if (LEVELS[level] < LEVELS[LOG_LEVEL]) return;
    const { err, ...others } = { err: undefined, ...fields };
    const error = err === undefined ? {} : { err: loggedError(err) };
    console.log(JSON.stringify({ level: LEVELS[level], time: Date.now(), ...common, ...others, ...error, msg: text }));
  };
}
