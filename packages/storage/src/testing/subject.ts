/** What a driver provides for a suite: a fresh subject per test. */
export interface SubjectUnderTest<Subject> {
  subject: Subject;
  teardown: () => Promise<void>;
  /** Closes it and opens it again on its data; absent for a driver without persistence. */
  reopen?: () => Promise<Subject>;
}

export type Setup<Subject> = () => Promise<SubjectUnderTest<Subject>>;
