/** The part of an action's page that shows how far it is, and what can be done about it. */
import { Button, LinkButton } from '../../components/button.tsx';
import { Meter, Stats } from '../../components/figures.tsx';
import { Island } from '../../components/island.tsx';
import { LiveNotes } from '../../components/live-notes.tsx';
import { Card } from '../../components/surface.tsx';
import { useLanguage } from '../../words/index.ts';
import type { Job } from './records.ts';

const LOOK_MS = 1000;

/** `title` says what the action does; `question` is what a person is to confirm, in the state ready. The buttons are a part of their own, which is replaced when they change: whoever is at one keeps it while the figures move. */
export function JobProgress({
  job,
  title,
  question,
  canChange,
}: {
  job: Job;
  title: string;
  question: string | null;
  canChange: boolean;
}) {
  const language = useLanguage();
  const isActive = ['selecting', 'running', 'undoing'].includes(job.state);
  const finished = job.state === 'undoing' ? job.whole - job.done : job.done + job.skipped;
  const state = language.say(`people.job.${job.state}`);
  const isUndoable = job.action === 'move' || job.action === 'delete';
  const progress =
    question ??
    (job.state === 'selecting'
      ? language.say('people.count', { count: job.whole })
      : language.say('people.job.of', { finished, count: job.whole }));
  const button = (change: 'cancel' | 'undo') => (
    <form method="post" action={`/people/actions/${job.id}/${change}`}>
      <Button look="plain">{language.say(job.state === 'ready' ? 'people.confirm.no' : `people.job.${change}`)}</Button>
    </form>
  );
  return (
    <Island name="live" data={{ every: isActive ? LOOK_MS : 0, results: '#people-job, #people-job-buttons' }}>
      <LiveNotes />
      <Card title={title}>
        <div id="people-job" class="stack" data-active={isActive ? 'yes' : 'no'} data-news={`${state} ${progress}`}>
          <p>{state}</p>
          {question !== null && (
            <>
              <h3>{question}</h3>
              <p class="quiet-text">{language.say(isUndoable ? 'people.confirm.undoable' : 'people.confirm.final')}</p>
            </>
          )}
          {isActive && <Meter label={language.say('people.job.progress')} value={finished} max={job.whole} />}
          {question === null && (
            <Stats
              figures={[
                { label: language.say('people.job.whole'), value: language.number(job.whole) },
                { label: language.say('people.job.finished'), value: language.number(job.done) },
                { label: language.say('people.job.skipped'), value: language.number(job.skipped) },
              ]}
            />
          )}
        </div>
        {canChange && (
          <div id="people-job-buttons" class="buttons">
            {job.state === 'ready' && (
              <form method="post" action={`/people/actions/${job.id}/confirm`}>
                <Button look={job.action === 'delete' ? 'danger' : 'primary'}>
                  {language.say(`people.confirm.yes.${job.action}`, {
                    people: language.say('people.count', { count: job.whole }),
                  })}
                </Button>
              </form>
            )}
            {(job.state === 'selecting' || job.state === 'ready' || job.state === 'running') && button('cancel')}
            {job.is_undoable === 1 && button('undo')}
            <LinkButton look="quiet" href="/people">
              {language.say('people.back')}
            </LinkButton>
          </div>
        )}
      </Card>
    </Island>
  );
}
