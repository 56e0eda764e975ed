extension Int {
    /// That many things, such as `1 line` and `2 lines`.
    func counting(_ singular: String) -> String {
        "\(self) \(singular)\(self == 1 ? "" : "s")"
    }
}
