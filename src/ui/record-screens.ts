/** Registers the routes with which records of a kind are added, changed and deleted. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ById, pageRoute } from '../http/pages/layout.ts';
import type { FormValues } from './components/form.tsx';
import type { Attempt, Refusal } from './operations.ts';

/** The submitted values of a form and their problems, which a page shows in place of the stored values. */
export type Submitted = Partial<Refusal> & { values?: FormValues };

interface RecordScreens<Added> {
  /** The path of the list. */
  path: string;
  /** True if the form for a new record is on the page of the list. Otherwise the form has a page of its own at `path`/new. */
  addsInList?: boolean;
  form: { read(request: FastifyRequest): FormValues };
  add(request: FastifyRequest, values: FormValues): Promise<Attempt<Added>>;
  change(request: FastifyRequest, values: FormValues, id: string): Promise<Attempt<unknown>>;
  remove(request: FastifyRequest, id: string): Promise<Attempt<unknown>>;
  /** Sends the page with the form of a record; `id` is null for a new record. Refuses users who may not see the page. */
  show(request: FastifyRequest, reply: FastifyReply, id: string | null, submitted: Submitted): unknown;
  /** Answers a successful change. `added` is the output of adding a record. */
  done(
    reply: FastifyReply,
    change: 'Added' | 'Changed' | 'Deleted',
    details: { request: FastifyRequest; values: FormValues; id: string; added?: Added },
  ): unknown;
}

/** Registers the form for a new record, the page of a record at `path`/ID, and the submission of both forms. */
export function recordScreens<Added>(app: FastifyInstance, screens: RecordScreens<Added>): void {
  const { path, addsInList = false, form, add, change, remove, show, done } = screens;
  const recordPath = `${path}/:id`;
  const showRefusal = (
    request: FastifyRequest,
    reply: FastifyReply,
    id: string | null,
    submitted: Refusal & Submitted,
  ) => show(request, reply.code(submitted.status), id, submitted);

  const newPath = addsInList ? path : `${path}/new`;
  if (!addsInList) pageRoute(app, newPath, async (request, reply) => show(request, reply, null, {}));

  app.post(newPath, async (request, reply) => {
    const values = form.read(request);
    const added = await add(request, values);
    if ('problems' in added) return showRefusal(request, reply, null, { ...added, values });
    const { output } = added;
    const id = typeof output === 'object' && output !== null && 'id' in output ? String(output.id) : '';
    return done(reply, 'Added', { request, values, id, added: output });
  });

  pageRoute<ById>(app, recordPath, async (request, reply) => show(request, reply, request.params.id, {}));

  app.post<ById>(recordPath, async (request, reply) => {
    const { id } = request.params;
    const values = form.read(request);
    const changed = await change(request, values, id);
    if ('problems' in changed) return showRefusal(request, reply, id, { ...changed, values });
    return done(reply, 'Changed', { request, values, id });
  });

  app.post<ById>(`${recordPath}/delete`, async (request, reply) => {
    const { id } = request.params;
    const deleted = await remove(request, id);
    if ('output' in deleted) return done(reply, 'Deleted', { request, values: {}, id });
    return showRefusal(request, reply, id, { ...deleted, problems: {}, problem: deleted.text });
  });
}
