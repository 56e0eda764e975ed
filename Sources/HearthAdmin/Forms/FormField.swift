/// A field of a form: what was typed or is there, and what is wrong with it.
struct FormField: Sendable {
    /// Its `id` and its name.
    let id: String
    var value: String
    var problem: DisplayText?
    let isChosen: Bool

    init(_ id: String, _ value: String, problems: FormProblems = FormProblems(), isChosen: Bool = false) {
        self.id = id
        self.value = value
        self.isChosen = isChosen
        problem = problems.message(at: id)
    }
}

extension FormField: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "id": id
        case "value": value
        case "problem": problem.orAbsent
        case "isChosen": isChosen
        default: nil
        }
    }
}
