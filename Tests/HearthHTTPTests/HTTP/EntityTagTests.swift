import Testing

@testable import HearthHTTP

@Suite("Entity tags")
struct EntityTagTests {
    @Test(
        arguments: [
            (#""00ff100000000001""#, true), (#"W/"00ff100000000001""#, true), (#""x" , W/"00ff100000000001" "#, true),
            ("*", true),
            ("\t*", true), ("", false), (#""00FF100000000001""#, false), ("00ff100000000001", false),
            (#""00ff1000000000010""#, false),
        ]
    )
    func `An entity tag matches a list of tags by weak comparison`(field: String, matches: Bool) {
        let tag = EntityTag(digest: [0x00, 0xff, 0x10, 0, 0, 0, 0, 0x01, 0x99])
        #expect(tag.text == #""00ff100000000001""#)
        #expect(tag.matches(ifNoneMatch: field) == matches)
    }
}
