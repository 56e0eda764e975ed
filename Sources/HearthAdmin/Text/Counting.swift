/// Numbers of things, as pages write them.
enum Counting {
    /// A whole number as the language of the page writes it: `1,048,576` in English.
    static func grouped(_ number: some BinaryInteger) -> String {
        Texts.current.language.numberStyle.text(number)
    }

    /// What is said below a list that shows only some of so many; nil where it shows all.
    static func more(than shown: Int, of count: Int) -> String? {
        count > shown ? localized(count: count - shown, one: "And {count} more.", other: "And {count} more.") : nil
    }
}
