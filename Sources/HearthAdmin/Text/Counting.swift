/// Numbers of things, as pages write them.
enum Counting {
    /// A whole number as the language of the page writes it: `1,048,576` in English.
    static func grouped(_ number: some BinaryInteger) -> String {
        Texts.current.language.numberStyle.text(number)
    }
}
