/** The question before a restore: what the backup would bring, and what would be lost. */
import { Button } from '../../../components/button.tsx';
import { Confirm } from '../../../components/confirm.tsx';
import { Facts, Time } from '../../../components/figures.tsx';
import { Card, Notice } from '../../../components/surface.tsx';
import { recordTime } from '../../../record-time.ts';
import { useLanguage } from '../../../words/index.ts';

/** A checked backup, as the API compares it with what there is. */
export interface Restore {
  upload_id: string;
  file_name: string;
  made_at: string | null;
  is_own: 0 | 1;
  people: number;
  mailings: number;
  people_now: number;
  mailings_now: number;
  people_lost: number;
  mailings_lost: number;
  left_since: number;
}

export function RestoreQuestion(restore: Restore) {
  const language = useLanguage();
  const made = recordTime(restore.made_at);
  const both = (people: number, mailings: number) =>
    language.say('restore.both', {
      people: language.say('restore.people', { count: people }),
      mailings: language.say('restore.mailings', { count: mailings }),
    });
  const id = <input type="hidden" name="upload_id" value={restore.upload_id} />;
  return (
    <Card title={language.say('restore.question')}>
      <Facts
        facts={[
          { label: language.say('restore.file.name'), value: restore.file_name },
          {
            label: language.say('restore.made'),
            value: made === null ? language.say('restore.unknown') : <Time at={made} />,
          },
          { label: language.say('restore.inside'), value: both(restore.people, restore.mailings) },
          { label: language.say('restore.now'), value: both(restore.people_now, restore.mailings_now) },
        ]}
      />
      <Notice tone={restore.people_lost + restore.mailings_lost > 0 ? 'warn' : 'plain'}>
        <p>
          {restore.is_own === 0
            ? language.say('restore.other', { lost: both(restore.people_lost, restore.mailings_lost) })
            : restore.people_lost + restore.mailings_lost === 0
              ? language.say('restore.nothing')
              : language.say('restore.lost', { lost: both(restore.people_lost, restore.mailings_lost) })}
        </p>
        {restore.left_since > 0 && <p>{language.say('restore.left', { count: restore.left_since })}</p>}
      </Notice>
      <ul>
        <li>{language.say('restore.held')}</li>
        <li>{language.say('restore.signIn')}</li>
        <li>{language.say('restore.kept')}</li>
      </ul>
      <div class="buttons">
        <Confirm
          id="restore"
          action="/settings/backup/restore"
          label={language.say('restore.submit')}
          title={language.say('restore.confirm')}
        >
          {id}
          <p>{language.say('restore.lost', { lost: both(restore.people_lost, restore.mailings_lost) })}</p>
        </Confirm>
        <form method="post" action="/settings/backup/drop">
          {id}
          <Button look="plain">{language.say('restore.drop')}</Button>
        </form>
      </div>
    </Card>
  );
}
