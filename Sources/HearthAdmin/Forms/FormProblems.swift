import StrictJSON

/// What is wrong with a form that was sent: shown above it, where it takes the focus, and beside the fields concerned.
struct FormProblems: Sendable {
    /// Something that is wrong.
    struct Problem: Sendable {
        /// The `id` of the field concerned; nil for the form as a whole.
        let field: String?
        /// A page that tells more, or has what it is about; nil where there is none.
        let url: String?
        /// What is wrong, and what to do.
        let message: DisplayText
    }

    private(set) var list: [Problem] = []

    var isEmpty: Bool { list.isEmpty }

    /// Notes a problem of a field, or of the form as a whole.
    ///
    /// - Parameter url: A page that tells more, or has what it is about.
    mutating func add(_ message: String, at field: String? = nil, linkingTo url: String? = nil) {
        list.append(Problem(field: field, url: url, message: DisplayText(message)))
    }

    /// What is wrong with a field.
    func message(at field: String) -> DisplayText? {
        list.first { $0.field?.utf8.elementsEqual(field.utf8) ?? false }?.message
    }

    /// A form that was shown before the server was started again, or to somebody else.
    static var stale: FormProblems {
        var problems = FormProblems()
        problems.add(staleText)
        return problems
    }

    /// What is said of it.
    static var staleText: String {
        localized(
            "This form was shown before you signed in, or before the server was started again. What you typed is still here: look it over and send it again."
        )
    }
}

extension FormProblems: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "problems": list
        case "hasProblems": !list.isEmpty
        case "isOneProblem": list.count == 1
        default: nil
        }
    }
}

extension FormProblems.Problem: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "url": (url ?? field.map { "#" + $0 }).orAbsent
        case "message": message
        default: nil
        }
    }
}
