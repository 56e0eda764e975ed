import DocumentModel
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("File naming")
struct FileNamingTests {
    private static let plain = FileNaming(isStrict: false)
    private static let strict = FileNaming(isStrict: true)

    @Test(
        arguments: [
            ("hitchhiker", "hitchhiker.json"),
            ("SwiftUI and Combine", "SwiftUI and Combine.json"),
            ("岩澤", "岩澤.json"),
            ("e\u{301}", "e\u{301}.json"),
            (".hidden", "%2Ehidden.json"),
            ("a.b", "a.b.json"),
            ("...", "%2E...json"),
            ("100%", "100%25.json"),
            ("a\nb\u{7f}", "a%0Ab%7F.json"),
            ("a\u{202e}b\u{200d}", "a%E2%80%AEb%E2%80%8D.json"),
            ("a.json", "a.json.json"),
            ("~tilde", "~tilde.json"),
        ]
    )
    func `An ID is its own name, except for escaped characters`(id: String, name: String) throws {
        #expect(Self.plain.file(of: try DocumentPath.ID(id)).text.utf8.elementsEqual(name.utf8))
    }

    @Test
    func `The folder of a document's subcollections never has the name of a document file`() throws {
        #expect(Self.plain.folder(of: "a").text == "a")
        #expect(Self.plain.folder(of: "a.json").text == "a%2Ejson")
        #expect(Self.plain.file(of: try DocumentPath.ID("a")).text == "a.json")
        #expect(Self.plain.parse(folder: Array("a%2Ejson".utf8)) == .id("a.json"))
        #expect(Self.plain.parse(folder: Array("a.json".utf8)) == .foreign)
    }

    @Test
    func `With strict naming, capital letters and non-ASCII characters are escaped`() throws {
        #expect(Self.strict.file(of: try DocumentPath.ID("Ab")).text == "%41b.json")
        #expect(Self.strict.file(of: try DocumentPath.ID("é")).text == "%C3%A9.json")
        #expect(Self.strict.file(of: try DocumentPath.ID("e\u{301}")).text == "e%CC%81.json")
    }

    @Test(arguments: [251, 300, 1_500])
    func `A name over the length limit is shortened to a prefix and a hash`(length: Int) throws {
        let name = Self.plain.file(of: try DocumentPath.ID(String(repeating: "x", count: length)))
        #expect(name.isShortened)
        #expect(name.text.utf8.count <= 255)
        #expect(Self.plain.parse(file: Array(name.text.utf8)) == .shortened)
        #expect(!Self.plain.file(of: try DocumentPath.ID(String(repeating: "x", count: 250))).isShortened)
    }

    @Test
    func `A shortened name is truncated between characters`() throws {
        for length in 245..<255 {
            let name = Self.plain.file(
                of: try DocumentPath.ID(String(repeating: "a", count: length % 4) + String(repeating: "岩", count: 100))
            )
            #expect(String(validating: Array(name.text.utf8), as: UTF8.self) != nil)
            #expect(name.text.utf8.count <= 255)
        }
    }

    @Test(
        arguments: ["notes.txt", "a%41.json", "a%4.json", "a%2e.json", ".json", ".a.json", "a%2Fb.json", "a%FF.json", "a%"]
    )
    func `A name that isn't canonical for any ID is foreign`(name: String) {
        #expect(Self.plain.parse(file: Array(name.utf8)) == .foreign)
    }

    @Test(arguments: [false, true])
    func `Any ID round-trips, and distinct IDs have distinct names`(isStrict: Bool) throws {
        var generator = SeededGenerator()
        let naming = FileNaming(isStrict: isStrict)
        var fileNames: [[UInt8]: UTF8Key] = [:]
        var names: [[UInt8]: String] = [:]
        for _ in 0..<2_000 {
            guard let id = try? DocumentPath.ID(Self.randomID(&generator)) else { continue }
            for (kind, name) in [("file of", naming.file(of: id)), ("folder of", naming.folder(of: id.key))] {
                let bytes = Array(name.text.utf8)
                let folded = isStrict ? bytes.map { (0x41...0x5a).contains($0) ? $0 + 0x20 : $0 } : bytes
                let owner = "\(kind) \(id)"
                #expect(bytes.count <= 255 && !bytes.contains(0) && !bytes.contains(0x2f) && bytes.first != 0x2e)
                if let other = names[folded] { #expect(other.utf8.elementsEqual(owner.utf8), "seed \(generator.seed)") }
                names[folded] = owner
                let parsed = kind == "file of" ? naming.parse(file: bytes) : naming.parse(folder: bytes)
                #expect(parsed == (name.isShortened ? .shortened : .id(id.key)), "\(owner), seed \(generator.seed)")
            }
            let file = naming.file(of: id)
            #expect(naming.isShortened(id) == file.isShortened)
            #expect([nil, id.key].contains(Self.plainID(of: file.text, naming)), "\(id), seed \(generator.seed)")
            fileNames[Array(naming.file(of: id).text.utf8)] = id.key
        }
        #expect(!fileNames.isEmpty)
    }

    @Test
    func `The plain ID of a file name is one that parsing the name finds`() throws {
        #expect(Self.plainID(of: "hitchhiker 2.json", Self.plain) == "hitchhiker 2")
        #expect(Self.plainID(of: "A.json", Self.plain) == "A")
        #expect(Self.plainID(of: "a.json.json", Self.strict) == "a.json")
        #expect(Self.plainID(of: String(repeating: "x", count: 250) + ".json", Self.plain)?.byteCount == 250)
        #expect(Self.plainID(of: "A.json", Self.strict) == nil)
        for name in ["a.jso", ".json", "json", "..json", ".a.json", "_a.json", "__id7__.json", "a%20.json", "é.json", "\t.json"] {
            #expect(Self.plainID(of: name, Self.plain) == nil, "\(name)")
        }
        #expect(Self.plainID(of: String(repeating: "x", count: 251) + ".json", Self.plain) == nil)
    }

    private static func plainID(of name: String, _ naming: FileNaming) -> UTF8Key? {
        Array(name.utf8).withUnsafeBufferPointer { name in
            naming.plainID(ofFile: name).map { UTF8Key(String(decoding: $0, as: UTF8.self)) }
        }
    }

    private static func randomID(_ generator: inout SeededGenerator) -> String {
        let pieces = [
            "a", "A", ".", "%", "%41", "%~", ".json", "json", "\n", "\u{7f}", "é", "e\u{301}", "ſ", "K", "\u{212a}", "\u{202e}",
            "岩", "🐵",
            "~", " ", "\\", String(repeating: "x", count: 60), String(repeating: "é", count: 70), "\u{feff}", "-", "0",
        ]
        return (0..<Int.random(in: 1...6, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "a" }.joined()
    }
}
