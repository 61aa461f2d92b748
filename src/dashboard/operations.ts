/** Performs operations for a page, as the user who opened it. */
import { setImmediate } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { TObject } from 'typebox';
import { Failure, isSaid } from '../errors/failure.ts';
import { retryWhenUnlocked } from '../http/lock-waits.ts';
import { callerWithSession } from '../operations/callers.ts';
import type { Deps } from '../operations/deps.ts';
import type { Context, Operation } from '../operations/operation.ts';
import { type Given, perform } from '../operations/perform.ts';
import type { Problems } from './components/field.tsx';
import { languageOf } from './page.tsx';
import { sessionOf, viewerOf } from './signed-in.ts';
import type { Language } from './words/index.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** What the operations that pages perform work with. */
    deps: Deps;
  }
}

/** When the next operation of a page may begin. */
const turns = new WeakMap<FastifyRequest, Promise<void>>();

/**
 * Performs an operation. Others are answered before each one of a page, because many would take long together. Throws a Failure where it is
 * refused.
 */
export async function ask<Input extends TObject, Output>(
  request: FastifyRequest,
  operation: Operation<Input, Output>,
  given: Given<Input>,
): Promise<Output> {
  const turn = (turns.get(request) ?? Promise.resolve()).then(() => setImmediate());
  turns.set(request, turn);
  await turn;
  // Each by itself, because what others write while the page is made must not keep it from being done again.
  return retryWhenUnlocked(request.server.deps, () => perform(operation, contextOf(request), given));
}

function contextOf(request: FastifyRequest): Context {
  return { ...request.server.deps, ...callerWithSession(sessionOf(request), request.ip) };
}

/** What became of a form: the output of its operation, or what is wrong with it, in the reader's language. */
export type Attempt<Output> = { output: Output } | Refusal;

/** Why an operation was refused. */
export interface Refusal {
  status: number;
  /** By field. */
  problems: Problems;
  /** About all of it; empty where a field is at fault. */
  problem: string;
}

/** The problems of a form that shows none about all of it: such a problem stands beside the field `otherwise`. */
export function problemsAt({ problems = {}, problem }: Partial<Refusal>, otherwise: string): Problems {
  return !problem ? problems : { [otherwise]: [problem] };
}

/** Performs the operation of a form. Throws what the form cannot show: 403, 404, and errors of the service. */
export function attempt<Input extends TObject, Output>(
  request: FastifyRequest,
  operation: Operation<Input, Output>,
  given: Given<Input>,
): Promise<Attempt<Output>> {
  return attemptWith(request, () => ask(request, operation, given));
}

/** Does with a form what is no operation, such as reading its file. Throws as `attempt` does. */
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

/** What a refusal says, for a page without the fields: its text, or the texts of all its fields. */
export function sentenceOf({ problems, problem }: Refusal): string {
  return problem || Object.values(problems).flat().join(' ');
}

function refusalOf({ status, errors }: Failure, language: Language): Refusal {
  if (isSaid(errors)) return { status, problems: {}, problem: language.sentence(errors) };
  const problems = Object.entries(errors).map(([field, texts]) => [
    field,
    texts.map((text) => language.sentence(text)),
  ]);
  return { status, problems: Object.fromEntries(problems), problem: '' };
}
