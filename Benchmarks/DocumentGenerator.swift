import DocumentModel
import UTF8Text

/// A seeded generator of documents with ten fields and about 1 KiB.
struct DocumentGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// Returns documents of the collection `documents`.
    mutating func documents(_ count: Int) throws -> [Document] {
        var documents: [Document] = []
        for index in 0..<count {
            let path = try DocumentPath("documents/d\(index)")
            documents.append(Document(path: path, fields: next(), createTime: .minimum, updateTime: .minimum))
        }
        return documents
    }

    /// Returns the fields of the next document: strings, numbers, a boolean, an array and a nested map.
    mutating func next() -> MapValue {
        let title = text(words: 6)
        let body = text(words: 90)
        let pages = Int64(random() % 1_200)
        let rating = Double(random() % 500) / 100
        let tags: [Value] = (0..<3).map { _ in .string(text(words: 1)) }
        return [
            "author": .string(text(words: 2)),
            "available": .boolean(random().isMultiple(of: 2)),
            "body": .string(body),
            "dimensions": .map(["height": .integer(Int64(random() % 400)), "width": .integer(Int64(random() % 300))]),
            "isbn": .integer(Int64(random() % 9_999_999_999_999)),
            "numberOfPages": .integer(pages),
            "published": .integer(1_900 + Int64(random() % 120)),
            "rating": .double(rating),
            "tags": .array(tags),
            "title": .string(title),
        ]
    }

    private mutating func text(words: Int) -> String {
        (0..<words).map { _ in Self.words[Int(random() % UInt64(Self.words.count))] }.joined(separator: " ")
    }

    /// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
    private mutating func random() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    private static let words = [
        "answer", "babel", "constellation", "dolphins", "earth", "fjord", "galaxy", "heart", "improbability", "journey",
        "krikkit", "lamuella", "magrathea", "novel", "orbit", "planet", "question", "restaurant", "starship", "towel", "universe",
    ]
}
