/// An option of a form: of a select element, a checkbox or a button.
struct FormOption: Sendable {
    let value: String
    let text: String
    let isSelected: Bool

    init(_ value: String, _ text: String, isSelected: Bool) {
        (self.value, self.text, self.isSelected) = (value, text, isSelected)
    }
}
