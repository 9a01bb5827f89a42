/** What a driver gives a suite: a fresh subject per test. */
export interface SubjectUnderTest<Subject> {
  subject: Subject;
  teardown: () => Promise<void>;
  /** Closes it and opens it again on what it left behind; absent for a driver that keeps nothing. */
  reopen?: () => Promise<Subject>;
}

export type Setup<Subject> = () => Promise<SubjectUnderTest<Subject>>;
