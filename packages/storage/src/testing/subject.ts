/** What a driver provides for a suite: a fresh subject per test. */
export interface SubjectUnderTest<Subject> {
  subject: Subject;
  teardown: () => Promise<void>;
  /** Closes it and opens it again on its data; absent for a driver without persistence. */
  reopen?: () => Promise<Subject>;
}

export type Setup<Subject> = () => Promise<SubjectUnderTest<Subject>>;

/** For a suite about one part of a subject. */
export function partOf<Subject, Part extends keyof Subject>(
  setup: Setup<Subject>,
  part: Part,
): Setup<Subject[Part]> {
  return async () => {
    const { subject, teardown, reopen } = await setup();
    return {
      subject: subject[part],
      teardown,
      ...(reopen && { reopen: async () => (await reopen())[part] }),
    };
  };
}
