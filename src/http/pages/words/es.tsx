/** Spanish texts of public pages. */
import type { en } from './en.tsx';

export const es: typeof en = {
  messages: {
    unknownLink: {
      title: 'Este enlace no se conoce',
      heading: 'Este enlace ya no se conoce aquí',
      text: [
        'Está incompleto, se modificó por el camino o pertenece a un correo del que ya no tenemos registro. Abre el enlace del correo más reciente que hayas recibido de nosotros.',
        'Si no quieres recibir más correos, responde a uno de ellos y dínoslo.',
      ],
    },
    unknownPage: {
      title: 'Página no encontrada',
      text: ['No hay ninguna página en esta dirección. Si has llegado por un enlace, puede que esté incompleto.'],
    },
    busy: {
      title: 'Inténtalo de nuevo en un momento',
      text: ['El servicio está ocupado y todavía no ha podido guardar esto.'],
    },
    refused: {
      title: 'No ha funcionado',
      text: ['Abre la página de nuevo.'],
    },
    failed: {
      title: 'Algo ha ido mal',
      text: ['No se ha cambiado nada. Inténtalo de nuevo en un momento.'],
    },
    tooLarge: {
      title: 'Este correo es demasiado grande',
      text: ['Con los datos de su destinatario ocupa más de 2 MB y no se puede mostrar.'],
    },
    linkTooLong: {
      title: 'Este enlace es demasiado largo',
      text: [
        'Con los datos del destinatario del correo, su dirección tiene más de 8000 caracteres y no se puede abrir.',
      ],
    },
    outdatedLink: {
      title: 'Este enlace no funciona',
      text: [
        'Está incompleto, es demasiado antiguo o el remitente ha cambiado desde entonces. Pide un nuevo correo de confirmación.',
      ],
    },
    sharedCopy: {
      title: 'La baja se hace desde el correo',
      text: [
        'Vienes de la copia de un correo en el navegador. Estas copias se comparten, por eso el enlace de baja solo está en el propio correo. Abre el correo y usa el enlace del final o el botón de baja de tu programa de correo.',
      ],
    },
  },
  preferences: {
    title: 'Tus preferencias de correo',
    forAddress: (email) => `Para ${email}`,
    question: '¿Qué quieres recibir?',
    own: 'El correo desde el que vienes',
    save: 'Guardar mi selección',
    noneTitle: 'Ningún correo',
    noneAbout: (email) => `Da de baja ${email} de todo, ahora y en el futuro.`,
    none: 'Darse de baja de todos los correos',
    getsNothing: (email) => `${email} no recibe ningún correo nuestro.`,
    back: 'Volver a recibir correos',
    saved: 'Tu selección se ha guardado.',
    tooOften:
      'Has cambiado tu selección muchas veces. Aún puedes darte de baja, pero espera una hora antes de elegir otra cosa.',
    unsubscribedAll: 'No recibirás más correos nuestros.',
    subscribedAgain: 'Te damos la bienvenida de nuevo. Revisa tu selección más abajo.',
    trackingTitle: 'Aperturas y clics',
    trackingText:
      'Nos gustaría registrar si abres nuestros correos, cuándo lo haces y qué enlaces sigues, para saber qué correos merecen la pena. Puedes cambiar de opinión en cualquier momento.',
    trackingOn: 'Ahora mismo se registra.',
    trackingOff: 'Ahora mismo no se registra.',
    trackingAllow: 'Podéis registrarlo',
    trackingRefuse: 'No registrarlo',
    trackingAllowed: 'Gracias. Tus aperturas y clics se registrarán a partir del próximo correo.',
    trackingRefused: 'Tus aperturas y clics ya no se registran. Los enlaces de los correos siguen funcionando.',
    unsubscribed: 'Te has dado de baja.',
    unsubscribedGroup: (group) => `Te has dado de baja de «${group}».`,
  },
  verify: {
    kind: 'Dirección de remitente',
    title: 'Confirmar esta dirección',
    somebody: 'Alguien quiere enviar correos desde',
    warning:
      'Confirma solo si este buzón es tuyo y estás al corriente. Si no es así, cierra esta página y no ocurrirá nada.',
    confirm: 'Sí, confirmar esta dirección',
    doneTitle: 'Dirección confirmada',
    done: (email) => (
      <>
        Ya se pueden enviar correos desde <strong>{email}</strong>.
      </>
    ),
    close: 'Puedes cerrar esta página.',
  },
  archive: {
    title: 'Archivo de correos',
    untitled: 'Sin asunto',
    older: 'Correos anteriores',
    newer: 'Correos más recientes',
    pages: 'Páginas',
    feed: 'Seguir en un lector de noticias',
  },
  form: {
    email: 'Correo electrónico',
    fields: {
      first_name: 'Nombre',
      last_name: 'Apellidos',
      state: 'Provincia',
      city: 'Ciudad',
      address_line1: 'Dirección',
      address_line2: 'Dirección, segunda línea',
      state_province_region: 'Estado, provincia o región',
      postal_code: 'Código postal',
    },
    optional: 'opcional',
    groups: '¿Qué quieres recibir?',
    privacy: 'Política de privacidad',
    trap: 'Deja este campo vacío',
    faults: {
      required: 'Rellena este campo.',
      invalid: 'Revisa este campo.',
      long: 'Es demasiado largo.',
      email: 'Escribe una dirección de correo válida.',
      consent: 'Necesitamos tu consentimiento para poder escribirte.',
    },
    faulty: 'Revisa los campos marcados.',
    again: 'Un paso más: revisa lo que has escrito y pulsa el botón.',
    busy: 'Este formulario recibe demasiadas altas en este momento. Inténtalo de nuevo en una hora.',
    unproven:
      'Para protegerse de los robots, este formulario necesita JavaScript en este momento. Actívalo o inténtalo de nuevo en una hora.',
    working: 'Un momento, tu navegador está demostrando que no es un robot…',
    confirmFor: (email) => (
      <>
        ¿Quieres suscribir <strong>{email}</strong>?
      </>
    ),
    filledIn: 'Lo que has escrito',
    chosen: 'Elegido',
    confirm: 'Sí, quiero suscribirme',
    notYou: 'Si no lo has pedido, cierra esta página y no ocurrirá nada.',
    toForm: 'Al formulario',
    suppressed: (contact: string): string =>
      `Tu selección se ha guardado, pero esta dirección no recibe correos nuestros: está en nuestra lista de exclusión porque un correo fue devuelto o se marcó como spam.\nPara volver a recibir correos, escribe a ${contact} y pide que se quite la dirección de esa lista.`,
  },
};
