/** One segment: whom its rules choose, who is in it, adding and removing people by hand, and deleting it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient, ApiFailure, problemsOf } from '../../api-client.ts';
import { LinkButton } from '../../components/button.tsx';
import type { Problems } from '../../components/field.tsx';
import { setFlash } from '../../flash.ts';
import { languageOf, sendPage } from '../../page.tsx';
import { field } from '../../sign-in/fields.ts';
import { requireEditor, viewerOf } from '../../signed-in.ts';
import { type Member, type PersonFields, SegmentView } from './members.tsx';
import { readChoices, readSegment, type Uses } from './records.ts';

const SEE_OTHER = 303;
const ROWS = 50;

interface ById {
  Params: { id: string };
  Querystring: { after?: string };
}

/** What was typed into the form for a person, and what is wrong with it. */
interface Given {
  person?: PersonFields;
  problems?: Problems;
}

export async function segmentScreen(app: FastifyInstance): Promise<void> {
  app.route<ById>({
    method: READ,
    url: '/people/segments/:id',
    handler: (request, reply) => show(request, reply),
  });

  app.post<ById>('/people/segments/:id/add', async (request, reply) => {
    requireEditor(request);
    const api = new ApiClient(app, request);
    const { id } = request.params;
    const { segment } = await readSegment(api, id);
    const person = {
      email: field(request, 'email'),
      first_name: field(request, 'first_name'),
      last_name: field(request, 'last_name'),
    };
    const answer = await api.send('POST', '/segment/email/store', { segment_id: segment.id, ...person });
    if (answer.message === undefined) {
      const problems = problemsOf(answer, 'email');
      return show(request, reply.code(answer.status), { person, problems });
    }
    setFlash(reply, 'good', 'segments.added', { email: person.email });
    return reply.redirect(`/people/segments/${segment.id}`, SEE_OTHER);
  });

  app.post<{ Params: { id: string; recipient: string } }>(
    '/people/segments/:id/remove/:recipient',
    async (request, reply) => {
      requireEditor(request);
      const api = new ApiClient(app, request);
      const { segment } = await readSegment(api, request.params.id);
      const query = new URLSearchParams({ segment_recipient_id: request.params.recipient });
      const answer = await api.send('DELETE', `/segment/email/delete?${query}`);
      if (answer.message === undefined) throw new ApiFailure(answer);
      setFlash(reply, 'good', 'segments.removed');
      return reply.redirect(`/people/segments/${segment.id}`, SEE_OTHER);
    },
  );

  app.post<ById>('/people/segments/:id/delete', async (request, reply) => {
    requireEditor(request);
    const api = new ApiClient(app, request);
    const { segment } = await readSegment(api, request.params.id);
    await api.send('DELETE', `/segment/delete?segment_id=${segment.id}`);
    setFlash(reply, 'good', 'segments.deleted', { name: segment.segment_name });
    return reply.redirect('/people/segments', SEE_OTHER);
  });

  async function show(request: FastifyRequest<ById>, reply: FastifyReply, given: Given = {}) {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const api = new ApiClient(app, request);
    const { segment } = await readSegment(api, request.params.id);
    const { after } = request.query;
    const [choices, { problem }, { uses }, { contactEmails }] = await Promise.all([
      readChoices(api),
      api.get<{ problem: string | null }>('/segment/problem', { segment_id: String(segment.id) }),
      api.get<{ uses: Uses }>('/segment/uses', { segment_id: String(segment.id) }),
      api.get<{ contactEmails: Member[] }>('/segment/email/list', {
        segment_id: String(segment.id),
        limit: String(ROWS + 1),
        ...(after && /^\d{1,15}$/.test(after) && { after_id: after }),
      }),
    ]);
    const canChange = viewer.role !== 'viewer';
    const frame = {
      title: segment.segment_name,
      section: 'people',
      back: { href: '/people/segments', label: 'segments.title' },
      ...(canChange && {
        action: <LinkButton href={`/people/segments/${segment.id}/edit`}>{language.say('segments.change')}</LinkButton>,
      }),
    } as const;
    const content = (
      <SegmentView
        {...{ segment, problem, choices, uses, canChange }}
        {...given}
        members={contactEmails.slice(0, ROWS)}
        hasMore={contactEmails.length > ROWS}
        isLater={after !== undefined}
      />
    );
    return sendPage(request, reply, viewer, frame, content);
  }
}
