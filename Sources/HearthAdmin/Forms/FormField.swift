/// A form field with its current value and validation error.
struct FormField: ViewModel {
    /// The `id` and `name` of the element.
    let id: String
    var value: String
    var problem: DisplayText?
    let isChecked: Bool

    init(_ id: String, _ value: String, problems: FormProblems = FormProblems(), isChecked: Bool = false) {
        self.id = id
        self.value = value
        self.isChecked = isChecked
        problem = problems.message(for: id)
    }
}
