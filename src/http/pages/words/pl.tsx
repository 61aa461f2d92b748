/** Polish texts of public pages. */
import type { en } from './en.tsx';

export const pl: typeof en = {
  messages: {
    unknownLink: {
      title: 'Ten link jest nieznany',
      heading: 'Ten link nie jest tu już znany',
      text: [
        'Jest niepełny, został po drodze zmieniony albo należy do wiadomości, której już nie mamy. Otwórz link w najnowszej wiadomości od nas.',
        'Jeśli nie chcesz więcej wiadomości od nas, odpowiedz na jedną z nich i daj nam znać.',
      ],
    },
    unknownPage: {
      title: 'Nie znaleziono strony',
      text: ['Pod tym adresem nie ma strony. Jeśli prowadził tu link, może być niepełny.'],
    },
    busy: {
      title: 'Spróbuj ponownie za chwilę',
      text: ['Usługa jest zajęta i nie mogła jeszcze tego zapisać.'],
    },
    refused: {
      title: 'To się nie udało',
      text: ['Otwórz stronę jeszcze raz.'],
    },
    failed: {
      title: 'Coś poszło nie tak',
      text: ['Nic nie zostało zmienione. Spróbuj ponownie za chwilę.'],
    },
    tooLarge: {
      title: 'Ta wiadomość jest za duża',
      text: ['Z danymi odbiorcy ma ponad 2 MB i nie można jej pokazać.'],
    },
    linkTooLong: {
      title: 'Ten link jest za długi',
      text: ['Z danymi odbiorcy wiadomości jego adres ma ponad 8000 znaków i nie można go otworzyć.'],
    },
    outdatedLink: {
      title: 'Ten link nie działa',
      text: [
        'Jest niepełny, zbyt stary albo nadawca został w międzyczasie zmieniony. Poproś o nową wiadomość z potwierdzeniem.',
      ],
    },
    sharedCopy: {
      title: 'Wypisać się można z wiadomości',
      text: [
        'Ta strona została otwarta z kopii wiadomości w przeglądarce. Takie kopie są przekazywane dalej, dlatego link do wypisania się jest tylko w samej wiadomości. Otwórz wiadomość i użyj linku na jej końcu albo przycisku wypisania w swoim programie pocztowym.',
      ],
    },
  },
  preferences: {
    title: 'Twoje ustawienia wiadomości',
    forAddress: (email) => `Dla ${email}`,
    question: 'Co chcesz otrzymywać?',
    own: 'Wiadomość, z której przychodzisz',
    save: 'Zapisz mój wybór',
    noneTitle: 'Żadnych wiadomości',
    noneAbout: (email) => `Wypisuje ${email} ze wszystkiego, teraz i w przyszłości.`,
    none: 'Wypisz mnie ze wszystkich wiadomości',
    getsNothing: (email) => `${email} nie otrzymuje od nas żadnych wiadomości.`,
    back: 'Chcę znów otrzymywać wiadomości',
    saved: 'Twój wybór został zapisany.',
    tooOften:
      'Ustawienia zostały zmienione bardzo wiele razy. Nadal można wypisać się z listy, ale przed każdą inną zmianą prosimy odczekać godzinę.',
    unsubscribedAll: 'Nie będziesz już otrzymywać od nas wiadomości.',
    subscribedAgain: 'Witamy ponownie. Sprawdź swój wybór poniżej.',
    trackingTitle: 'Otwarcia i kliknięcia',
    trackingText:
      'Chcielibyśmy zapisywać, czy i kiedy otwierasz nasze wiadomości i które linki w nich wybierasz, aby wiedzieć, które wiadomości warto czytać. W każdej chwili możesz zmienić zdanie.',
    trackingOn: 'Obecnie jest to zapisywane.',
    trackingOff: 'Obecnie nie jest to zapisywane.',
    trackingAllow: 'Zgadzam się na zapisywanie',
    trackingRefuse: 'Nie zgadzam się na zapisywanie',
    trackingAllowed: 'Dziękujemy. Twoje otwarcia i kliknięcia będą zapisywane od następnej wiadomości.',
    trackingRefused: 'Twoje otwarcia i kliknięcia nie są już zapisywane. Linki w wiadomościach nadal działają.',
    unsubscribed: 'Subskrypcja została anulowana.',
    unsubscribedGroup: (group) => `Subskrypcja „${group}” została anulowana.`,
  },
  verify: {
    kind: 'Adres nadawcy',
    title: 'Potwierdź ten adres',
    somebody: 'Ktoś chce wysyłać wiadomości z adresu',
    warning:
      'Potwierdź tylko wtedy, gdy ta skrzynka należy do Ciebie i wiesz o tym. Jeśli nie, zamknij tę stronę: nic się nie stanie.',
    confirm: 'Tak, potwierdzam ten adres',
    doneTitle: 'Adres potwierdzony',
    done: (email) => (
      <>
        Można teraz wysyłać wiadomości z adresu <strong>{email}</strong>.
      </>
    ),
    close: 'Możesz zamknąć tę stronę.',
  },
  archive: {
    title: 'Archiwum wiadomości',
    untitled: 'Bez tematu',
    older: 'Starsze wiadomości',
    newer: 'Nowsze wiadomości',
    pages: 'Strony',
    feed: 'Śledź w czytniku kanałów',
  },
  form: {
    email: 'Adres e-mail',
    fields: {
      first_name: 'Imię',
      last_name: 'Nazwisko',
      state: 'Województwo',
      city: 'Miejscowość',
      address_line1: 'Adres',
      address_line2: 'Adres, druga linia',
      state_province_region: 'Stan, prowincja lub region',
      postal_code: 'Kod pocztowy',
    },
    optional: 'opcjonalnie',
    groups: 'Co chcesz otrzymywać?',
    privacy: 'Polityka prywatności',
    trap: 'Pozostaw to pole puste',
    faults: {
      required: 'Wypełnij to pole.',
      invalid: 'Sprawdź to pole.',
      long: 'To jest za długie.',
      email: 'Podaj prawidłowy adres e-mail.',
      consent: 'Potrzebujemy Twojej zgody, aby móc do Ciebie pisać.',
    },
    faulty: 'Sprawdź zaznaczone pola.',
    again: 'Jeszcze jeden krok: sprawdź wpisane dane i naciśnij przycisk.',
    busy: 'Ten formularz otrzymuje teraz zbyt wiele zgłoszeń. Spróbuj ponownie za godzinę.',
    unproven:
      'Aby chronić się przed robotami, ten formularz potrzebuje teraz JavaScriptu. Włącz go albo spróbuj ponownie za godzinę.',
    working: 'Chwileczkę, przeglądarka udowadnia, że nie jest robotem…',
    confirmFor: (email) => (
      <>
        Czy chcesz zapisać adres <strong>{email}</strong>?
      </>
    ),
    filledIn: 'Wpisane dane',
    chosen: 'Wybrano',
    confirm: 'Tak, zapisz mnie',
    notYou: 'Jeśli to nie Twoje zgłoszenie, zamknij tę stronę: nic się nie stanie.',
    toForm: 'Do formularza',
    suppressed: (contact: string): string =>
      `Twój wybór został zapisany, ale ten adres nie otrzymuje od nas wiadomości: jest na naszej liście wykluczeń, ponieważ wiadomość wróciła albo została zgłoszona jako spam.\nAby znów otrzymywać wiadomości, napisz na ${contact} i poproś o usunięcie adresu z tej listy.`,
  },
};
