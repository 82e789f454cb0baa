CREATE UNLOGGED TABLE "parley".wakeup (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL, payload text NOT NULL
    );
