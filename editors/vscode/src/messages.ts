/** What the extension and its pages say to each other. */
import type { Texts } from "./texts";
import type {
  ApprovalLevel,
  Change,
  Event,
  InputPart,
  LoopReadResult,
  Mode,
  ModelListResult,
  Requests,
  SessionSnapshot,
  SessionSummary,
  StartStatus,
} from "./protocol.gen";

/** As the extension calls itself to the engine. */
export const OWN_NAME = "VS Code";

/** A card's answers and what else a command may do with it. */
export type CardDeed = "deny" | "once" | "remember" | "openDiff" | "showWhole";

/** A way to install the server here. */
export interface Installer {
  readonly program: "uv" | "pipx" | "python3";
  readonly command: string;
}

/** How the extension stands to the engine. */
export interface Connection {
  readonly state: "starting" | "ready" | "missing" | "failed" | "lost" | "noFolder";
  readonly problem?: string;
  readonly installers?: readonly Installer[];
  readonly modes: readonly Mode[];
  readonly levels: readonly ApprovalLevel[];
  readonly isTrusted: boolean;
}

/** Settings of a conversation that has not begun, and of one that has. */
export interface Choices {
  readonly mode: Mode;
  readonly level: ApprovalLevel;
  readonly model: string | undefined;
}

/** Context that goes along with the next prompt, as shown to the person. */
export interface Chip {
  readonly id: string;
  readonly kind: "selection" | "diagnostics" | "file";
  readonly label: string;
  readonly title: string;
  /** Offered by a setting, not added by hand. */
  readonly isAutomatic: boolean;
}

export interface PictureData {
  readonly name: string;
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

export interface Picture extends PictureData {
  readonly id: string;
}

/** A long text from the clipboard. */
export interface Pasted {
  readonly id: string;
  readonly text: string;
}

export interface Draft {
  readonly text: string;
  /** Path as it stands in the text -> URI. */
  readonly mentions: Readonly<Record<string, string>>;
}

/** What goes along with the draft and is too large to be written with every key. */
export interface Attachments {
  readonly pictures: readonly Picture[];
  readonly pasted: readonly Pasted[];
}

/** The same once the extension has what they hold. */
export interface AttachmentRefs {
  readonly pictures: readonly Omit<Picture, "data">[];
  readonly pasted: readonly Omit<Pasted, "text">[];
}

/** A part of what an attachment holds. */
export interface Piece {
  readonly id: string;
  /** In UTF-16 units; the pieces come in order. */
  readonly offset: number;
  readonly text: string;
  readonly isEnd: boolean;
}

export interface PageOptions {
  readonly whenBusy: "queue" | "steer";
  readonly shiftTabCycles: boolean;
  readonly maxPictureBytes: number;
}

/** Handed to a page when it is made. */
export interface PageData {
  readonly texts: Texts;
  readonly options?: PageOptions;
  readonly isMac: boolean;
}

export type ToPage =
  | { type: "connection"; connection: Connection }
  | { type: "session"; snapshot?: SessionSnapshot; choices: Choices }
  | { type: "choices"; choices: Choices }
  | { type: "draft"; draft: Draft; attachments: Attachments }
  | { type: "events"; events: readonly Event[] }
  | { type: "models"; models: ModelListResult }
  | { type: "sessions"; sessions: readonly SessionSummary[] }
  | { type: "chips"; chips: readonly Chip[] }
  | { type: "pictures"; pictures: readonly PictureData[] }
  | { type: "mention"; path: string; uri: string }
  | { type: "options"; options: PageOptions }
  | { type: "focus"; target: "input" | "card" }
  | { type: "decide"; decision: CardDeed }
  | { type: "say"; text: string; isProblem: boolean }
  | { type: "answer"; id: number; result?: unknown; error?: string }
  | { type: "loop"; loop?: LoopReadResult; problem?: string }
  | { type: "changes"; sessionId: string; changes: readonly Change[]; refused: readonly string[] }
  | { type: "markdown"; title: string; markdown: string };

/** Engine methods that a page may call; everything else goes through an action. */
export const PAGE_METHODS = [
  "kova/session/read",
  "kova/approval/respond",
  "kova/question/respond",
  "kova/output/read",
  "kova/changes/decide",
  "kova/goal/pause",
  "kova/goal/resume",
  "kova/goal/cancel",
] as const satisfies readonly (keyof Requests)[];

export type PageMethod = (typeof PAGE_METHODS)[number];

/** Action -> its arguments and result. */
export interface Actions {
  send: {
    args: {
      text: string;
      mentions: readonly { uri: string }[];
      attachments: AttachmentRefs;
      chips: readonly string[];
      whenBusy: "queue" | "steer";
    };
    result: { status: StartStatus; notices: readonly string[] };
  };
  sendAgain: { args: { input: readonly InputPart[] }; result: { status: StartStatus } };
  configure: { args: Partial<Choices>; result: null };
  cycleLevel: { args: null; result: null };
  interrupt: { args: { scope: "turn" | "turnAndTasks" }; result: { said: string } };
  saveDraft: { args: Draft; result: null };
  keepPiece: { args: Piece; result: null };
  saveAttachments: { args: AttachmentRefs; result: null };
  takeBack: { args: { promptId: string }; result: { draft: Draft; attachments: Attachments } };
  findFiles: { args: { query: string }; result: readonly { path: string; uri: string }[] };
  mentionOf: { args: { uri: string }; result: { path: string; uri: string } | null };
  removeChip: { args: { id: string }; result: null };
  pickPictures: { args: null; result: null };
  openSession: { args: { sessionId: string }; result: null };
  openDiff: { args: { approvalId: string; uri: string }; result: null };
  openHunk: { args: { uri: string; line: number }; result: null };
  openLink: { args: { href: string }; result: null };
  openOutput: { args: { outputRef: string; title: string }; result: null };
  copy: { args: { text: string }; result: null };
  insert: { args: { text: string; language: string }; result: null };
  runCommand: { args: { command: string }; result: null };
  install: { args: { command: string }; result: null };
  refresh: { args: null; result: null };
}

/** Commands that a page's buttons may run. */
export const PAGE_COMMANDS = [
  "kova.newSession",
  "kova.sessions",
  "kova.restart",
  "kova.doctor",
  "kova.showLog",
  "kova.openSettings",
  "kova.showChanges",
  "kova.showLoop",
  "kova.installServer",
  "kova.openConfiguration",
  "kova.openFolder",
  "kova.manageTrust",
  "kova.goalBudget",
] as const;

export type FromPage =
  | { type: "ready" }
  | { type: "call"; id: number; method: PageMethod; params: Requests[PageMethod]["params"] }
  | { type: "do"; id: number; action: keyof Actions; args: Actions[keyof Actions]["args"] };
