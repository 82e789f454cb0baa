/** A kind of misbehaviour, and the expected task. */
export interface Misbehaviour {
  /** Without its prefix. */
  readonly state: string;
  readonly says: string;
  /** Lines about it in the log, where that is not one for a task that failed and none for any other. */
  readonly lines?: number;
}

type Named<Kind> = Readonly<Record<string, Kind>>;

export declare const garbage: Named<Misbehaviour>;
export declare const failures: Named<Misbehaviour>;
export declare const afterwards: Named<Misbehaviour>;
export declare const endings: Named<Misbehaviour>;
export declare const odd: Named<{ readonly shown: unknown }>;
export declare const stubborn: Named<unknown>;
export declare const floods: Named<unknown>;
