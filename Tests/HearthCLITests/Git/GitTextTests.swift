import Testing

@testable import HearthCLI

@Suite("Texts for git")
struct GitTextTests {
    @Test func `A block of lines replaces only itself`() {
        let first = GitSetup.text("", with: "a\nb")
        #expect(GitSetup.text(first, with: "a\nb") == first)
        let extended = GitSetup.text("mine\n", with: "a") + "!README\n"
        let changed = GitSetup.text(extended, with: "c")
        #expect(changed == extended.replacing("\na\n", with: "\nc\n"))
        #expect(changed.hasSuffix("\nmine\n!README\n"))
    }

    @Test func `A message names the documents`() {
        #expect(GitCommit.message(ofChanges: "M\0books/a.json\0") == "Change books/a")
        #expect(
            GitCommit.message(ofChanges: "A\0books/a.json\0D\0books/b.json\0M\0.gitignore\0")
                == "Change 3 documents\n\nbooks/a (new)\nbooks/b (deleted)\n.gitignore"
        )
        let many = (1...22).map { "M\0c/\($0).json\0" }.joined()
        #expect(GitCommit.message(ofChanges: many).hasSuffix("\nc/20\nand 2 more"))
    }
}
