import DocumentStore
import StrictJSON
import Testing

@testable import HearthAPI

@Suite("The build state of an index") struct IndexReportTests {
    @Test(
        arguments: [
            (.building(documents: 0), #"{"state":"building","documentsDone":0}"#),
            (.building(documents: 2), #"{"state":"building","documentsDone":2}"#),
            (.building(documents: 0, of: 5), #"{"state":"building","documentsDone":0,"documentsTotal":5}"#),
            (.ready, #"{"state":"ready","documentsDone":0,"documentsTotal":0}"#),
        ] as [(IndexReport.BuildState, String)]
    )
    func `The total number of documents is absent while it is unknown`(state: IndexReport.BuildState, json: String) {
        var writer = JSONWriter()
        writer.beginObject()
        state.writeMembers(to: &writer)
        writer.endObject()
        #expect(String(decoding: writer.finish(), as: UTF8.self) == json)
    }
}
