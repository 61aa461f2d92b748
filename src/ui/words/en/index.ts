/** English: all texts of the dashboard, from the words files of all features. */

import { people } from '../../../audience/contacts/words.en.ts';
import { imports } from '../../../audience/import/words.en.ts';
import { segments } from '../../../audience/segments/words.en.ts';
import { unsubscribed } from '../../../audience/unsubscribed/words.en.ts';
import { automations } from '../../../automations/words.en.ts';
import { archive } from '../../../campaigns/archive/words.en.ts';
import { home } from '../../../campaigns/home/words.en.ts';
import { mailSettings } from '../../../campaigns/mail-settings/words.en.ts';
import { sentMails } from '../../../campaigns/sent-mails/words.en.ts';
import { campaigns } from '../../../campaigns/words.en.ts';
import { feeds } from '../../../feeds/words.en.ts';
import { forms } from '../../../forms/words.en.ts';
import { backup } from '../../../installation/backups/words.en.ts';
import { installation } from '../../../installation/words.en.ts';
import { outbox } from '../../../senders/outbox/words.en.ts';
import { relays } from '../../../senders/relays/words.en.ts';
import { providers } from '../../../senders/returned-mail/words.en.ts';
import { times } from '../../../senders/sending-times/words.en.ts';
import { senders } from '../../../senders/words.en.ts';
import { brand } from '../../../templates/brand/words.en.ts';
import { designer } from '../../../templates/designs/words.en.ts';
import { pictures } from '../../../templates/pictures/words.en.ts';
import { versions } from '../../../templates/versions/words.en.ts';
import { templates } from '../../../templates/words.en.ts';
import { transactional } from '../../../transactional/words.en.ts';
import { users } from '../../../users/words.en.ts';
import { webhooks } from '../../../webhooks/words.en.ts';
import { frame } from './frame.ts';
import { mailFrames } from './mail-frames.ts';
import { signIn } from './sign-in.ts';

export const en = {
  ...archive,
  ...automations,
  ...backup,
  ...brand,
  ...campaigns,
  ...designer,
  ...feeds,
  ...forms,
  ...frame,
  ...home,
  ...imports,
  ...installation,
  ...mailFrames,
  ...mailSettings,
  ...outbox,
  ...people,
  ...pictures,
  ...providers,
  ...relays,
  ...segments,
  ...senders,
  ...sentMails,
  ...signIn,
  ...templates,
  ...times,
  ...transactional,
  ...unsubscribed,
  ...users,
  ...versions,
  ...webhooks,
};
