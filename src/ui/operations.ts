/** Performs operations for a page, as the user who opened it. */
import { setImmediate } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { TObject } from 'typebox';
import { Failure, isSaid } from '../errors/failure.ts';
import { fieldLabel } from '../errors/field-errors.ts';
import { type Said, Sentence } from '../errors/sentences.ts';
import { retryWhenUnlocked } from '../http/lock-waits.ts';
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
    /** The context of the operations that pages perform. */
    deps: Deps;
  }
}

/** When the next operation of a page may begin. */
const turns = new WeakMap<FastifyRequest, Promise<void>>();

/**
 * Performs an operation. Other requests are answered between the operations of a page, because many of them would take long
 * together. Throws a Failure if the operation is refused.
 */
export async function ask<Input extends TObject, Output>(
  request: FastifyRequest,
  operation: Operation<Input, Output>,
  input: UncheckedInput<Input>,
): Promise<Output> {
  const turn = (turns.get(request) ?? Promise.resolve()).then(() => setImmediate());
  turns.set(request, turn);
  await turn;
  // Each operation is retried on its own, because writes of other connections must not keep the whole page from being made.
  return retryWhenUnlocked(request.server.deps, () => perform(operation, contextOf(request), input));
}

function contextOf(request: FastifyRequest): Context {
  const { server, ip, raw } = request;
  return { ...server.deps, ...callerWithSession(sessionOf(request), ip), isGone: () => raw.socket.destroyed };
}

/** The result of a form: the output of its operation, or its problems in the user's language. */
export type Attempt<Output> = { output: Output } | Refusal;

/** Why an operation was refused. */
export interface Refusal {
  status: number;
  /** Problems by field. */
  problems: Problems;
  /** A problem of the whole form; empty if a field is at fault. */
  problem: string;
  /** The problems as one text that names the fields, for a page that does not show these. */
  text: string;
}

/** Returns the problems of a form that has no place for a problem of the whole form. Such a problem is shown at the field `otherwise`. */
export function problemsAt({ problems = {}, problem }: Partial<Omit<Refusal, 'text'>>, otherwise: string): Problems {
  return !problem ? problems : { [otherwise]: [problem] };
}

/** Performs the operation of a form. Throws failures that the form cannot show: 403, 404, and errors of the service. */
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
    if (!(error instanceof Failure) || [403, 404].includes(error.status) || error.status >= 500) throw error;
    return refusalOf(error, languageOf(request, viewerOf(request)));
  }
}

function refusalOf({ status, errors }: Failure, language: Language): Refusal {
  if (isSaid(errors)) {
    const problem = language.sentence(errors);
    return { status, problems: {}, problem, text: problem };
  }
  const problems = Object.entries(errors).map(([field, texts]) => [
    field,
    texts.map((text) => atField(language, field, text)),
  ]);
  const sentences = Object.values(errors).flatMap((texts) => texts.map((text) => language.sentence(text)));
  return { status, problems: Object.fromEntries(problems), problem: '', text: sentences.join(' ') };
}

/**
 * Returns the error of a field as it is shown below the field. It does not name the field, because the API's name differs from the
 * label on the page. An error that is about another field, such as one of the custom fields, names that field.
 */
function atField(language: Language, field: string, text: Said): string {
  if (!(text instanceof Sentence) || text.values.field !== fieldLabel(field)) return language.sentence(text);
  const isEmpty = text.code === 'field_minimum' && text.values.count === 1;
  const key = `problem.${isEmpty ? 'field_required' : text.code}`;
  return isWordKey(key) ? language.fill(key, { count: Number(text.values.count) }) : language.sentence(text);
}
