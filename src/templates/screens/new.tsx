/** A new template: its name, and what it begins with: nothing, another template, or the content of a mail. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Button, LinkButton } from '../../dashboard/components/button.tsx';
import { SelectField, TextField } from '../../dashboard/components/field.tsx';
import { Card, Problem } from '../../dashboard/components/surface.tsx';
import { setFlash } from '../../dashboard/flash.ts';
import { ask, attempt, type Refusal } from '../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../dashboard/page.tsx';
import { field } from '../../dashboard/sign-in/fields.ts';
import { requireEditor, viewerOf } from '../../dashboard/signed-in.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { READ } from '../../http/pages/layout.ts';
import { isOwn } from '../mail-content.ts';
import { createTemplate, type ListedTemplate, listTemplates } from '../operations.ts';

const SEE_OTHER = 303;

interface Given extends Partial<Pick<Refusal, 'problems' | 'problem'>> {
  name: string;
  /** The mail that is copied; empty: a template is. */
  mail: string;
  template: string;
}

interface NewQuery {
  /** The utr of the mail it is made of, and what to call it. */
  mail?: string;
  name?: string;
  /** The template it begins with. */
  template?: string;
}

export async function newTemplateScreen(app: FastifyInstance): Promise<void> {
  app.route<{ Querystring: NewQuery }>({
    method: READ,
    url: '/templates/new',
    handler: (request, reply) => {
      requireEditor(request);
      const { mail = '', name = '', template = '' } = request.query;
      return show(request, reply, { mail: String(mail), name: String(name), template: String(template) });
    },
  });

  app.post('/templates/new', async (request, reply) => {
    requireEditor(request);
    const given = {
      name: field(request, 'template_name').trim(),
      mail: field(request, 'mail'),
      template: field(request, 'template_id'),
    };
    const created = await attempt(request, createTemplate, {
      template_name: given.name,
      ...(given.mail ? { mail_utr: given.mail } : { template_id: given.template }),
    });
    if ('problems' in created) return show(request, reply.code(created.status), { ...given, ...created });
    setFlash(reply, 'good', 'templates.added', { name: given.name });
    return reply.redirect(`/templates/${created.output.id}`, SEE_OTHER);
  });

  async function show(request: FastifyRequest, reply: FastifyReply, given: Given) {
    const viewer = viewerOf(request);
    const templates = given.mail === '' ? await ask(request, listTemplates, { built_in: 1 }) : [];
    const title = languageOf(request, viewer).say('templates.new');
    const content = <NewTemplate given={given} templates={templates} />;
    return sendPage(request, reply, viewer, { title, section: 'templates' }, content);
  }
}

function NewTemplate({ given, templates }: { given: Given; templates: readonly ListedTemplate[] }) {
  const language = useLanguage();
  const { name, mail, template, problems, problem } = given;
  const options = [...templates.filter(isOwn), ...templates.filter((each) => !isOwn(each))].map((each) => ({
    value: String(each.id),
    label: each.is_blank === 1 ? language.say('templates.blank') : each.template_name,
  }));
  const blank = templates.find(({ is_blank }) => is_blank === 1);
  return (
    <Card>
      <Problem>{problem}</Problem>
      <p class="quiet-text">{language.say(mail === '' ? 'templates.new.about' : 'templates.new.ofMail')}</p>
      <form method="post" action="/templates/new" class="narrow">
        <TextField
          name="template_name"
          label={language.say('templates.name')}
          value={name}
          maxLength={255}
          autocomplete="off"
          required
          problems={problems}
        />
        {mail === '' ? (
          <SelectField
            name="template_id"
            label={language.say('templates.begin')}
            options={options}
            value={template || String(blank?.id ?? '')}
            problems={problems}
          />
        ) : (
          <input type="hidden" name="mail" value={mail} />
        )}
        <div class="buttons">
          <Button>{language.say('templates.create')}</Button>
          <LinkButton look="quiet" href="/templates">
            {language.say('confirm.cancel')}
          </LinkButton>
        </div>
      </form>
    </Card>
  );
}
