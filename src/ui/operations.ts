/** Performs operations for a page, as the user who opened it. */
import { setImmediate } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { TObject } from 'typebox';
import { Failure, isSaid } from '../errors/failure.ts';
import { fieldLabel } from '../errors/field-errors.ts';
import { type Said, Sentence } from '../errors/sentences.ts';
import { retryWhenUnlocked } from '../http/lock-waits.ts';
import { connectionOf } from '../http/operation-routes.ts';
import { callerWithSession } from '../operations/callers.ts';
import type { Deps } from '../operations/deps.ts';
import type { Context, Operation } from '../operations/operation.ts';
import { perform, type UncheckedInput } from '../operations/perform.ts';
import type { Problems } from './components/field.tsx';
import { languageOf } from './page.tsx';
import { sessionOf, viewerOf } from './signed-in.ts';
import { isWordKey, type Language } from './words/index.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The dependencies of the operations that pages perform. */
    deps: Deps;
  }
}

/** For each request, the promise after which the next operation of its page may begin. */
const turns = new WeakMap<FastifyRequest, Promise<void>>();

/**
 * Performs an operation and returns its output. Other requests are answered between the operations of a page, because many operations
 * together can take long. Throws a Failure if the operation is refused.
 */
export async function ask<Input extends TObject, Output>(
  request: FastifyRequest,
  operation: Operation<Input, Output>,
  input: UncheckedInput<Input>,
): Promise<Output> {
  const turn = (turns.get(request) ?? Promise.resolve()).then(() => setImmediate());
  turns.set(request, turn);
  await turn;
  // Each operation is retried on its own, so that writes of other connections cannot keep the whole page from being made.
  return retryWhenUnlocked(request.server.deps, () => perform(operation, contextOf(request), input));
}

function contextOf(request: FastifyRequest): Context {
  const { server, ip } = request;
  return { ...server.deps, ...callerWithSession(sessionOf(request), ip), ...connectionOf(request) };
}

/** The result of a form: the output of its operation, or its problems in the user's language. */
export type Attempt<Output> = { output: Output } | Refusal;

/** Why an operation was refused. */
export interface Refusal {
  status: number;
  /** The problems of fields. */
  problems: Problems;
  /** The problem of the whole form; empty if fields have problems. */
  problem: string;
  /** All problems as one text that names the fields, for a page that does not show the fields. */
  text: string;
}

/** Returns the problems of a form that shows no problem of the whole form. Its field `fieldName` shows such a problem. */
export function problemsAt({ problems = {}, problem }: Partial<Omit<Refusal, 'text'>>, fieldName: string): Problems {
  return problem ? { [fieldName]: [problem] } : problems;
}

/** Performs the operation of a form. Throws failures that a form cannot show: those with status 401, 403, 404, and 500 or above. */
export function attempt<Input extends TObject, Output>(
  request: FastifyRequest,
  operation: Operation<Input, Output>,
  input: UncheckedInput<Input>,
): Promise<Attempt<Output>> {
  return attemptWith(request, () => ask(request, operation, input));
}

/** Runs other work for a form, such as reading its file. Throws as `attempt` does. */
export async function attemptWith<Output>(
  request: FastifyRequest,
  work: (context: Context) => Promise<Output>,
): Promise<Attempt<Output>> {
  try {
    return { output: await work(contextOf(request)) };
  } catch (error) {
    if (!(error instanceof Failure) || [401, 403, 404].includes(error.status) || error.status >= 500) throw error;
    return refusalOf(error, languageOf(request, viewerOf(request)));
  }
}

function refusalOf({ status, errors }: Failure, language: Language): Refusal {
  if (isSaid(errors)) {
    const problem = language.fullSentence(errors);
    return { status, problems: {}, problem, text: problem };
  }
  const problems = Object.entries(errors).map(([field, texts]) => [
    field,
    texts.map((text) => textAtField(language, field, text)),
  ]);
  const sentences = Object.values(errors).flatMap((texts) => texts.map((text) => language.fullSentence(text)));
  return { status, problems: Object.fromEntries(problems), problem: '', text: sentences.join(' ') };
}

/**
 * Returns the text of an error for the place below its field. The text does not name the field, because the name in the API differs from
 * the label on the page. An error about another field, such as a custom field, names that field.
 */
function textAtField(language: Language, field: string, text: Said): string {
  if (!(text instanceof Sentence) || text.values.field !== fieldLabel(field)) return language.fullSentence(text);
  const isEmpty = text.code === 'field_minimum' && text.values.count === 1;
  const key = `problem.${isEmpty ? 'field_required' : text.code}`;
  return isWordKey(key) ? language.fill(key, { count: Number(text.values.count) }) : language.fullSentence(text);
}
