/// A choice in a list of a form.
struct Option: Sendable {
    let value: String
    let text: String
    let isCurrent: Bool

    init(_ value: String, _ text: String, isCurrent: Bool) {
        (self.value, self.text, self.isCurrent) = (value, text, isCurrent)
    }
}

extension Option: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "value": value
        case "text": text
        case "isCurrent": isCurrent
        default: nil
        }
    }
}
