/// A choice in a form: of a list, a box to tick, or a button.
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
        default: nil
        }
    }
}
