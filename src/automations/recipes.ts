/** Recipes: automations to start from, each with a trigger and mails, whose texts are written in each language. */
import type { automations } from '../database/schema/index.ts';
import { PREFERENCES_LINK } from '../delivery/content/footer.ts';
import { escapeHtml } from '../delivery/content/merge.ts';
import { PREFERENCES, WEB_COPY } from '../delivery/content/placeholders.ts';
import type { LanguageCode } from '../languages.ts';

export const RECIPES = ['welcome', 'cart', 'review', 'birthday', 'renewal', 'win_back'] as const;
export type RecipeName = (typeof RECIPES)[number];

/** What contacts read in a mail, in one language. The subject and the paragraphs may have merge tags. */
interface RecipeTexts {
  subject: string;
  preheader: string;
  /** Plain text. */
  paragraphs: readonly string[];
}

interface RecipeMail {
  kind: 'mail';
  waiting_type: 'instantly' | 'days';
  /** The number of days; 1 if the mail is sent instantly. */
  waiting_period: number;
  texts: Readonly<Record<LanguageCode, RecipeTexts>>;
}

/** A wait for an event. Contacts for whom the event comes within `timeout_hours` exit; all others go on. */
export interface RecipeWait {
  kind: 'wait_until';
  event: string;
  timeout_hours: number;
}

type RecipeStep = RecipeMail | RecipeWait;

type Trigger = Pick<
  typeof automations.$inferSelect,
  | 'trigger_kind'
  | 'trigger_event'
  | 'trigger_days'
  | 'trigger_before'
  | 'trigger_yearly'
  | 'trigger_hour'
  | 're_entry'
  | 're_entry_days'
>;

interface Recipe {
  /** How contacts enter, as far as it differs from the default, by which contacts enter once, when they join the target. */
  trigger: Partial<Trigger>;
  /** The custom field with the dates of the trigger, which is added if the account has no such field; null if contacts do not enter by a date. */
  field: { field_name: string; field_type: 'yearly-date' | 'datetime-local' } | null;
  /** 1: contacts exit when they leave the list or segment. */
  exit_criteria: 0 | 1;
  steps: readonly RecipeStep[];
}

/** The texts of a mail in one language, in the form in which they are written below. */
type Letter = readonly [subject: string, preheader: string, ...paragraphs: string[]];

/** Returns a mail that is sent this number of days after the step before it, or instantly if `days` is 0. */
function mail(days: number, letters: Readonly<Record<LanguageCode, Letter>>): RecipeMail {
  const textsOf = ([subject, preheader, ...paragraphs]: Letter): RecipeTexts => ({ subject, preheader, paragraphs });
  return {
    kind: 'mail',
    waiting_type: days === 0 ? 'instantly' : 'days',
    waiting_period: days || 1,
    texts: { en: textsOf(letters.en), de: textsOf(letters.de) },
  };
}

const DAY_HOURS = 24;

const WELCOME: Recipe = {
  trigger: {},
  field: null,
  exit_criteria: 0,
  steps: [
    mail(0, {
      en: [
        'Welcome, ((first_name|and thank you for joining us))',
        'What you can expect from us, in half a minute.',
        'Hello ((first_name|and welcome)),',
        'Thank you for joining us. From now on you will hear from us when there is something worth your time, and not more often.',
        'You can reply to each of our e-mails. Your reply reaches us, and we read it.',
        'It is good to have you here.',
      ],
      de: [
        'Willkommen, ((first_name|und danke für Ihre Anmeldung))',
        'Was Sie von uns erwarten können, in einer halben Minute.',
        'Hallo ((first_name|und herzlich willkommen)),',
        'danke für Ihre Anmeldung. Ab jetzt hören Sie von uns, wenn es etwas gibt, das Ihre Zeit wert ist, und nicht öfter.',
        'Sie können auf jede unserer Mails antworten. Ihre Antwort kommt bei uns an, und wir lesen sie.',
        'Schön, dass Sie da sind.',
      ],
    }),
    mail(3, {
      en: [
        'May we ask you one question?',
        'One sentence from you helps us to write what you like to read.',
        'Hello ((first_name|again)),',
        'You have been with us for a few days now, and we would like to know you a little better.',
        'What brought you to us, and what would you like to read about? Just reply to this e-mail. One sentence is plenty.',
        'Thank you.',
      ],
      de: [
        'Dürfen wir Sie etwas fragen?',
        'Ein Satz von Ihnen hilft uns, über das zu schreiben, was Sie gern lesen.',
        'Hallo ((first_name|noch einmal)),',
        'Sie sind jetzt ein paar Tage dabei, und wir würden Sie gern etwas besser kennenlernen.',
        'Was hat Sie zu uns geführt, und worüber möchten Sie lesen? Antworten Sie einfach auf diese Mail. Ein Satz genügt.',
        'Vielen Dank.',
      ],
    }),
  ],
};

const CART: Recipe = {
  trigger: { trigger_kind: 'event', trigger_event: 'cart', re_entry: 'days', re_entry_days: 7 },
  field: null,
  exit_criteria: 0,
  steps: [
    { kind: 'wait_until', event: 'purchase', timeout_hours: 4 },
    mail(0, {
      en: [
        '((first_name|Hello)), your cart is still here',
        'We have kept what you chose.',
        'Hello ((first_name|and welcome back)),',
        'You put something into your cart and left before you ordered. We have kept it for you.',
        'Is something unclear, about the size, the delivery or the payment? Just reply to this e-mail, and we will help.',
        'If you have changed your mind, you need not do anything.',
      ],
      de: [
        '((first_name|Guten Tag)), Ihr Warenkorb ist noch da',
        'Ihre Auswahl ist noch da.',
        'Hallo ((first_name|und willkommen zurück)),',
        'Sie haben etwas in Ihren Warenkorb gelegt und noch nicht bestellt. Es ist noch für Sie da.',
        'Ist etwas unklar, zur Größe, zur Lieferung oder zur Zahlung? Antworten Sie einfach auf diese Mail, und wir helfen Ihnen.',
        'Wenn Sie es sich anders überlegt haben, brauchen Sie nichts zu tun.',
      ],
    }),
    { kind: 'wait_until', event: 'purchase', timeout_hours: DAY_HOURS },
    mail(0, {
      en: [
        'Shall we keep your cart?',
        'A last reminder. We will not write about it again.',
        'Hello ((first_name|again)),',
        'What you chose yesterday is still in your cart. This is our last reminder of it.',
        'What kept you from ordering? One sentence in a reply to this e-mail helps us to do better.',
        'Thank you for looking around in our shop.',
      ],
      de: [
        'Sollen wir Ihren Warenkorb noch für Sie aufheben?',
        'Eine letzte Erinnerung, danach lassen wir Sie in Ruhe.',
        'Hallo ((first_name|noch einmal)),',
        'was Sie gestern ausgesucht haben, liegt noch in Ihrem Warenkorb. Das ist unsere letzte Erinnerung daran.',
        'Was hat Sie vom Bestellen abgehalten? Ein Satz als Antwort auf diese Mail hilft uns, besser zu werden.',
        'Danke, dass Sie sich bei uns umgesehen haben.',
      ],
    }),
  ],
};

const REVIEW: Recipe = {
  trigger: { trigger_kind: 'event', trigger_event: 'purchase', re_entry: 'days', re_entry_days: 90 },
  field: null,
  exit_criteria: 0,
  steps: [
    mail(10, {
      en: [
        'How do you like it, ((first_name|now that it is with you))?',
        'A few words from you help others to choose.',
        'Hello ((first_name|and thank you for your order)),',
        'You have had a few days with what you bought from us. How do you like it?',
        'Tell us in a few words, good or bad, by replying to this e-mail. We read every reply, and what is wrong we put right.',
        'Thank you for your order.',
      ],
      de: [
        'Wie gefällt es Ihnen, ((first_name|jetzt, wo es bei Ihnen ist))?',
        'Ein paar Worte von Ihnen helfen anderen bei der Auswahl.',
        'Hallo ((first_name|und danke für Ihre Bestellung)),',
        'Ihre Bestellung ist seit ein paar Tagen bei Ihnen. Wie gefällt sie Ihnen?',
        'Schreiben Sie uns ein paar Worte, gute oder schlechte, als Antwort auf diese Mail. Wir lesen jede Antwort, und was nicht stimmt, bringen wir in Ordnung.',
        'Vielen Dank für Ihre Bestellung.',
      ],
    }),
    { kind: 'wait_until', event: 'review', timeout_hours: 7 * DAY_HOURS },
    mail(0, {
      en: [
        'One minute for a few words?',
        'Your opinion counts for others, and for us.',
        'Hello ((first_name|again)),',
        'A week ago we asked how you like what you bought. If you have a minute, we would still be glad to hear it.',
        'One sentence is plenty. We will not ask again.',
        'Thank you.',
      ],
      de: [
        'Eine Minute für ein paar Worte?',
        'Ihre Meinung zählt, für andere und für uns.',
        'Hallo ((first_name|noch einmal)),',
        'vor einer Woche haben wir gefragt, wie Ihnen gefällt, was Sie gekauft haben. Wenn Sie eine Minute haben, freuen wir uns noch immer über ein paar Worte.',
        'Ein Satz genügt. Wir fragen nicht noch einmal.',
        'Vielen Dank.',
      ],
    }),
  ],
};

const RENEWAL: Recipe = {
  trigger: { trigger_kind: 'date', trigger_days: 30, trigger_before: 1, trigger_hour: 9 },
  field: { field_name: 'renewal', field_type: 'datetime-local' },
  exit_criteria: 0,
  steps: [
    mail(0, {
      en: [
        'Your renewal is due in thirty days',
        'What happens next, and how you decide.',
        'Hello ((first_name|and thank you for your trust)),',
        'In thirty days your time with us is up for renewal. We are telling you early, so that you have time to decide.',
        'If you would like to go on as before, or change something, reply to this e-mail. We will take care of the rest.',
        'Thank you for being with us.',
      ],
      de: [
        'In dreißig Tagen steht Ihre Verlängerung an',
        'Wie es weitergeht und wie Sie entscheiden.',
        'Hallo ((first_name|und danke für Ihr Vertrauen)),',
        'in dreißig Tagen steht bei uns Ihre Verlängerung an. Wir sagen es früh, damit Sie in Ruhe entscheiden können.',
        'Wenn Sie weitermachen oder etwas ändern möchten, antworten Sie auf diese Mail. Um alles andere kümmern wir uns.',
        'Danke, dass Sie bei uns sind.',
      ],
    }),
    { kind: 'wait_until', event: 'renewed', timeout_hours: 23 * DAY_HOURS },
    mail(0, {
      en: [
        'One week left until your renewal',
        'A short reminder, so that nothing ends by accident.',
        'Hello ((first_name|again)),',
        'Your renewal is due in a week, and we have not heard from you yet.',
        'Just reply to this e-mail and tell us whether you would like to go on. If you would rather stop, you need not give a reason.',
        'Thank you.',
      ],
      de: [
        'Noch eine Woche bis zu Ihrer Verlängerung',
        'Eine kurze Erinnerung, damit nichts aus Versehen endet.',
        'Hallo ((first_name|noch einmal)),',
        'in einer Woche steht Ihre Verlängerung an, und wir haben noch nichts von Ihnen gehört.',
        'Antworten Sie einfach auf diese Mail und sagen Sie uns, ob Sie weitermachen möchten. Wenn Sie lieber aufhören, brauchen Sie keinen Grund zu nennen.',
        'Vielen Dank.',
      ],
    }),
  ],
};

const WIN_BACK: Recipe = {
  trigger: {},
  field: null,
  exit_criteria: 1,
  steps: [
    mail(0, {
      en: [
        'Are we still writing about the right things?',
        'It has been quiet between us. Tell us what you would like to read.',
        'Hello ((first_name|there)),',
        'It has been a while since we heard from you. Perhaps we wrote about the wrong things, or at the wrong time.',
        'What would you like to hear from us? Reply to this e-mail with a word or two, and we will keep it in mind.',
        'And if you no longer want our e-mails, the link below unsubscribes you at once. No hard feelings.',
      ],
      de: [
        'Schreiben wir noch über das Richtige?',
        'Es ist still geworden. Sagen Sie uns, was Sie gern lesen würden.',
        'Hallo ((first_name|und guten Tag)),',
        'wir haben länger nichts von Ihnen gehört. Vielleicht haben wir über das Falsche geschrieben, oder zur falschen Zeit.',
        'Was würden Sie gern von uns lesen? Antworten Sie auf diese Mail mit ein, zwei Worten, und wir denken daran.',
        'Und wenn Sie unsere Mails nicht mehr möchten: Der Link am Ende meldet Sie sofort ab. Wir nehmen es nicht übel.',
      ],
    }),
    mail(7, {
      en: [
        'Shall we stay in touch?',
        'One word if you stay, one click if you would rather go.',
        'Hello ((first_name|again)),',
        'A week ago we asked whether our e-mails are still right for you. We would be glad to keep you.',
        'If you would like to stay, just reply “yes”. If not, the link below unsubscribes you at once.',
        'Either way, thank you for reading.',
      ],
      de: [
        'Bleiben wir in Kontakt?',
        'Ein Wort, wenn Sie bleiben, ein Klick, wenn nicht.',
        'Hallo ((first_name|noch einmal)),',
        'vor einer Woche haben wir gefragt, ob unsere Mails noch zu Ihnen passen. Wir würden uns freuen, wenn Sie bleiben.',
        'Wenn Sie bleiben möchten, antworten Sie einfach mit „Ja“. Wenn nicht, meldet der Link am Ende Sie sofort ab.',
        'So oder so: Danke, dass Sie uns gelesen haben.',
      ],
    }),
  ],
};

const BIRTHDAY: Recipe = {
  trigger: { trigger_kind: 'date', trigger_yearly: 1, trigger_hour: 9 },
  field: { field_name: 'birthday', field_type: 'yearly-date' },
  exit_criteria: 0,
  steps: [
    mail(0, {
      en: [
        'Happy birthday, ((first_name|and all the best))!',
        'Our best wishes for your day.',
        'Dear ((first_name|friend)),',
        'Today is your day, and we did not want to let it pass without a word.',
        'We wish you a happy birthday and a good year, with time for everything that matters to you.',
        'With our best wishes,',
      ],
      de: [
        'Alles Gute zum Geburtstag, ((first_name|und einen schönen Tag))!',
        'Unsere besten Wünsche für Ihren Tag.',
        'Hallo ((first_name|und herzlichen Glückwunsch)),',
        'heute ist Ihr Tag, und den wollten wir nicht ohne ein Wort vergehen lassen.',
        'Wir wünschen Ihnen alles Gute zum Geburtstag und ein gutes Jahr, mit Zeit für alles, was Ihnen wichtig ist.',
        'Mit den besten Wünschen',
      ],
    }),
  ],
};

export const RECIPE_BY_NAME: Readonly<Record<RecipeName, Recipe>> = {
  welcome: WELCOME,
  cart: CART,
  review: REVIEW,
  birthday: BIRTHDAY,
  renewal: RENEWAL,
  win_back: WIN_BACK,
};

/** The texts at the end of each mail. */
const FOOTER: Readonly<Record<LanguageCode, { why: string; webCopy: string }>> = {
  en: {
    why: 'You get this e-mail because you signed up for it.',
    webCopy: 'View in the browser',
  },
  de: {
    why: 'Sie erhalten diese Mail, weil Sie sich dafür angemeldet haben.',
    webCopy: 'Im Browser ansehen',
  },
};

/** The logo and the font stacks of a mail. */
interface Brand {
  /** The texts of the logo are not escaped yet. `width` is in pixels. Null if the account has no logo. */
  logo: { src: string; alt: string; width: number } | null;
  text_font: string;
  heading_font: string;
}

const INK = '#1b2129';
const GREY = '#5b6570';

/** Returns a mail of a recipe as MJML that the designer can edit: the logo or the sender's name, the letter, and the footer. */
export function recipeMjml(language: LanguageCode, { paragraphs }: RecipeTexts, brand: Brand): string {
  const text = (content: string, size: number, colour: string) =>
    `<mj-text font-family="${brand.text_font}" font-size="${size}px" line-height="1.6" color="${colour}">${content}</mj-text>`;
  const section = (content: string) => `<mj-section padding="16px 0"><mj-column>${content}</mj-column></mj-section>`;
  const quietLink = (tag: string, label: string) =>
    `<a href="((${tag}))" style="color:${GREY};text-decoration:underline;">${label}</a>`;
  const { why, webCopy } = FOOTER[language];
  const head =
    brand.logo === null
      ? `<mj-text font-family="${brand.heading_font}" font-size="22px" font-weight="700" color="${INK}">((sender_name))</mj-text>`
      : `<mj-image src="${escapeHtml(brand.logo.src)}" alt="${escapeHtml(brand.logo.alt)}" width="${brand.logo.width}px" align="left"></mj-image>`;
  const letter = [...paragraphs, '((sender_name))']
    .map((content) => `<p style="margin:0 0 16px;">${content}</p>`)
    .join('');
  const footer = [
    '((sender_name))<br>((sender_address))',
    why,
    `${quietLink(PREFERENCES, PREFERENCES_LINK[language])} &nbsp;·&nbsp; ${quietLink(WEB_COPY, webCopy)}`,
  ];
  return `<mjml lang="${language}"><mj-body width="600px">${section(head)}${section(text(letter, 16, INK))}${section(
    footer.map((content) => text(content, 13, GREY)).join(''),
  )}</mj-body></mjml>`;
}
