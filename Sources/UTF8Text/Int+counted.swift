extension Int {
    /// Returns the number with a noun in the singular or plural: `1 line`, `2 lines`.
    package func counted(_ singular: String) -> String {
        "\(self) \(singular)\(self == 1 ? "" : "s")"
    }
}
