/// A form field with its current value and validation error.
struct FormField: Sendable {
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

extension FormField: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "id": id
        case "value": value
        case "problem": problem.orAbsent
        case "isChecked": isChecked
        default: nil
        }
    }
}
