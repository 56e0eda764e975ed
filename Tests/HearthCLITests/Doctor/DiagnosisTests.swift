import StrictJSON
import Testing

@testable import HearthCLI

@Suite("Diagnoses")
struct DiagnosisTests {
    private var diagnosis: Diagnosis {
        var section = Diagnosis.Section("Disk")
        section.add("free", "1 GB")
        section.add("unknown", nil)
        section.add("file system", "ext4")
        var diagnosis = Diagnosis()
        diagnosis.add(section, problems: ["It is nearly full."])
        diagnosis.add(Diagnosis.Section("Empty"))
        return diagnosis
    }

    @Test
    func `Problems come first, and values are aligned`() {
        #expect(
            diagnosis.lines == ["! It is nearly full.", "", "== Disk", "free         1 GB", "file system  ext4", "", "== Empty"]
        )
        #expect(Diagnosis().lines == ["No problems found."])
    }

    @Test
    func `The JSON object has an object for each section`() {
        #expect(
            String(decoding: diagnosis.json(), as: UTF8.self)
                == #"{"problems":["It is nearly full."],"sections":{"Disk":{"free":"1 GB","file system":"ext4"},"Empty":{}}}"#
        )
    }

    @Test
    func `A folder that is no data folder is a problem`() throws {
        var diagnosis = Diagnosis()
        diagnosis.addDataFolder("/nonexistent/data", databases: [])
        #expect(diagnosis.problems == ["There is no folder \"/nonexistent/data\"."])
    }
}
