/** German: all texts of the dashboard, from the words files of all features. */

import { people } from '../../../audience/contacts/words.de.ts';
import { imports } from '../../../audience/import/words.de.ts';
import { segments } from '../../../audience/segments/words.de.ts';
import { unsubscribed } from '../../../audience/unsubscribed/words.de.ts';
import { automations } from '../../../automations/words.de.ts';
import { archive } from '../../../campaigns/archive/words.de.ts';
import { home } from '../../../campaigns/home/words.de.ts';
import { mailSettings } from '../../../campaigns/mail-settings/words.de.ts';
import { sentMails } from '../../../campaigns/sent-mails/words.de.ts';
import { campaigns } from '../../../campaigns/words.de.ts';
import { feeds } from '../../../feeds/words.de.ts';
import { forms } from '../../../forms/words.de.ts';
import { backup } from '../../../installation/backups/words.de.ts';
import { installation } from '../../../installation/words.de.ts';
import { outbox } from '../../../senders/outbox/words.de.ts';
import { relays } from '../../../senders/relays/words.de.ts';
import { providers } from '../../../senders/returned-mail/words.de.ts';
import { times } from '../../../senders/sending-times/words.de.ts';
import { senders } from '../../../senders/words.de.ts';
import { brand } from '../../../templates/brand/words.de.ts';
import { designer } from '../../../templates/designs/words.de.ts';
import { pictures } from '../../../templates/pictures/words.de.ts';
import { versions } from '../../../templates/versions/words.de.ts';
import { templates } from '../../../templates/words.de.ts';
import { transactional } from '../../../transactional/words.de.ts';
import { users } from '../../../users/words.de.ts';
import { webhooks } from '../../../webhooks/words.de.ts';
import { frame } from './frame.ts';
import { mailFrames } from './mail-frames.ts';
import { signIn } from './sign-in.ts';

export const de = {
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
