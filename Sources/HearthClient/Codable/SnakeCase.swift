/// Names in `snake_case` and `camelCase`, as Foundation's coders convert them.
enum SnakeCase {
    /// `myURLProperty` becomes `my_url_property`.
    static func fromCamelCase(_ name: String) -> String {
        let characters = Array(name)
        var converted = ""
        for (index, character) in characters.enumerated() {
            if index > 0, character.isUppercase, characters[index - 1] != "_" {
                // A word begins at a capital letter, and of several in a row at the last one that a small letter follows.
                let followsSmall = !characters[index - 1].isUppercase
                let precedesSmall = index + 1 < characters.count && characters[index + 1].isLowercase
                if followsSmall || precedesSmall { converted += "_" }
            }
            converted += character.lowercased()
        }
        return converted
    }

    /// `my_url_property` becomes `myUrlProperty`; underscores at the beginning and the end stay.
    static func toCamelCase(_ name: String) -> String {
        guard let first = name.firstIndex(where: { $0 != "_" }), let last = name.lastIndex(where: { $0 != "_" }) else {
            return name
        }
        let words = name[first...last].split(separator: "_")
        guard words.count > 1 else { return name }
        let camel = words.dropFirst().reduce(words[0].lowercased()) {
            $0 + $1.prefix(1).uppercased() + $1.dropFirst().lowercased()
        }
        return name[..<first] + camel + name[name.index(after: last)...]
    }
}
