/** Portuguese texts of public pages. */
import type { en } from './en.tsx';

export const pt: typeof en = {
  messages: {
    unknownLink: {
      title: 'Este link não é conhecido',
      heading: 'Este link já não é conhecido aqui',
      text: [
        'Está incompleto, foi alterado pelo caminho ou pertence a um e-mail do qual já não temos registo. Abra o link no e-mail mais recente que recebeu de nós.',
        'Se não quiser receber mais e-mails, responda a um deles e diga-nos.',
      ],
    },
    unknownPage: {
      title: 'Página não encontrada',
      text: ['Não há nenhuma página neste endereço. Se veio por um link, talvez esteja incompleto.'],
    },
    busy: {
      title: 'Tente novamente dentro de momentos',
      text: ['O serviço está ocupado e ainda não conseguiu guardar o pedido.'],
    },
    refused: {
      title: 'Não funcionou',
      text: ['Abra a página novamente.'],
    },
    failed: {
      title: 'Algo correu mal',
      text: ['Nada foi alterado. Tente novamente dentro de momentos.'],
    },
    tooLarge: {
      title: 'Este e-mail é demasiado grande',
      text: ['Com os dados do destinatário tem mais de 2 MB e não pode ser mostrado.'],
    },
    linkTooLong: {
      title: 'Este link é demasiado longo',
      text: ['Com os dados do destinatário do e-mail, o endereço tem mais de 8000 caracteres e não pode ser aberto.'],
    },
    outdatedLink: {
      title: 'Este link não funciona',
      text: [
        'Está incompleto, é demasiado antigo ou o remetente foi alterado entretanto. Peça um novo e-mail de confirmação.',
      ],
    },
    sharedCopy: {
      title: 'A subscrição cancela-se no e-mail',
      text: [
        'Veio da cópia de um e-mail no navegador. Estas cópias são partilhadas, por isso o link para cancelar a subscrição está apenas no próprio e-mail. Abra o e-mail e use o link no fim, ou o botão do seu programa de e-mail.',
      ],
    },
  },
  preferences: {
    title: 'As suas preferências de e-mail',
    forAddress: (email) => `Para ${email}`,
    question: 'O que quer receber?',
    own: 'O e-mail de onde veio',
    save: 'Guardar as minhas escolhas',
    noneTitle: 'Nenhum e-mail',
    noneAbout: (email) => `Cancela todas as subscrições de ${email}, agora e no futuro.`,
    none: 'Cancelar a subscrição de todos os e-mails',
    getsNothing: (email) => `${email} não recebe nenhum e-mail nosso.`,
    back: 'Voltar a receber e-mails',
    saved: 'As suas escolhas foram guardadas.',
    tooOften:
      'Alterou as suas escolhas muitas vezes. Continua a poder cancelar a subscrição, mas aguarde uma hora antes de escolher outra coisa.',
    unsubscribedAll: 'Não receberá mais e-mails nossos.',
    subscribedAgain: 'Bem-vindo de volta. Verifique as suas escolhas abaixo.',
    trackingTitle: 'Aberturas e cliques',
    trackingText:
      'Gostaríamos de registar se e quando abre os nossos e-mails e que links segue, para saber que e-mails vale a pena ler. Pode mudar de ideias a qualquer momento.',
    trackingOn: 'Neste momento isto é registado.',
    trackingOff: 'Neste momento isto não é registado.',
    trackingAllow: 'Podem registar',
    trackingRefuse: 'Não registar',
    trackingAllowed: 'Obrigado. As suas aberturas e cliques são registados a partir do próximo e-mail.',
    trackingRefused: 'As suas aberturas e cliques já não são registados. Os links nos e-mails continuam a funcionar.',
    unsubscribed: 'A sua subscrição foi cancelada.',
    unsubscribedGroup: (group) => `A sua subscrição de “${group}” foi cancelada.`,
  },
  verify: {
    kind: 'Endereço do remetente',
    title: 'Confirmar este endereço',
    somebody: 'Alguém quer enviar e-mails a partir de',
    warning:
      'Confirme apenas se esta caixa de correio é sua e sabe do pedido. Caso contrário, feche esta página: nada acontece.',
    confirm: 'Sim, confirmar este endereço',
    doneTitle: 'Endereço confirmado',
    done: (email) => (
      <>
        Já é possível enviar e-mails a partir de <strong>{email}</strong>.
      </>
    ),
    close: 'Pode fechar esta página.',
  },
  archive: {
    title: 'Arquivo de e-mails',
    untitled: 'Sem assunto',
    older: 'E-mails mais antigos',
    newer: 'E-mails mais recentes',
    pages: 'Páginas',
    feed: 'Seguir num leitor de feeds',
  },
  form: {
    email: 'Endereço de e-mail',
    fields: {
      first_name: 'Nome',
      last_name: 'Apelido',
      state: 'Distrito',
      city: 'Localidade',
      address_line1: 'Morada',
      address_line2: 'Morada, segunda linha',
      state_province_region: 'Estado, província ou região',
      postal_code: 'Código postal',
    },
    optional: 'opcional',
    groups: 'O que quer receber?',
    privacy: 'Política de privacidade',
    trap: 'Deixe este campo vazio',
    faults: {
      required: 'Preencha este campo.',
      invalid: 'Verifique este campo.',
      long: 'É demasiado longo.',
      email: 'Introduza um endereço de e-mail válido.',
      consent: 'Precisamos do seu consentimento para lhe podermos escrever.',
    },
    faulty: 'Verifique os campos assinalados.',
    again: 'Só mais um passo: verifique o que preencheu e carregue no botão.',
    busy: 'Este formulário está a receber demasiadas inscrições. Tente novamente dentro de uma hora.',
    unproven:
      'Para afastar robôs, este formulário precisa de JavaScript neste momento. Ative-o ou tente novamente dentro de uma hora.',
    working: 'Um momento, o seu navegador está a provar que não é um robô…',
    confirmFor: (email) => (
      <>
        Quer subscrever com <strong>{email}</strong>?
      </>
    ),
    filledIn: 'O que preencheu',
    chosen: 'Escolhido',
    confirm: 'Sim, quero subscrever',
    notYou: 'Se não fez este pedido, feche esta página: nada acontece.',
    toForm: 'Para o formulário',
    suppressed: (contact: string): string =>
      `A sua escolha foi guardada, mas este endereço não recebe e-mails nossos: está na nossa lista de exclusão, porque um e-mail foi devolvido ou denunciado como spam.\nPara voltar a receber e-mails, escreva para ${contact} e peça que o endereço seja retirado dessa lista.`,
  },
};
