/// The alert above a form that lists its errors.
struct ProblemAlert: ViewModel {
    struct Problem: ViewModel {
        /// The invalid field, or a page with related information.
        let url: String?
        /// The label of the field, if the message doesn't name it.
        let label: DisplayText?
        let message: DisplayText
    }

    private let isOneProblem: Bool
    private let takesFocus: Bool
    private let problems: [Problem]

    /// Creates the alert; returns `nil` if there are no errors.
    ///
    /// - Parameter takesFocus: Whether it has the focus; `false` for a form that focuses its only field.
    init?(_ problems: FormProblems, takesFocus: Bool = true) {
        guard !problems.isEmpty else { return nil }
        self.takesFocus = takesFocus
        isOneProblem = problems.list.count == 1
        self.problems = problems.list.map {
            Problem(url: $0.url ?? $0.field.map { "#" + $0 }, label: $0.label, message: $0.message)
        }
    }
}
