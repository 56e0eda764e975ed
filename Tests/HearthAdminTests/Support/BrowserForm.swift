import Foundation

/// A form on a page, submitted as by a browser, with optional changes.
struct BrowserForm {
    private var items: [(name: String, value: String)] = []

    /// Reads the form that matches an XPath expression.
    init(_ page: HTMLPage, _ selector: String = "//form[contains(@class,'editor')]") throws {
        for input in try page.all("\(selector)//input[@name]") {
            let isBox = input["type"] == "radio" || input["type"] == "checkbox"
            guard let name = input["name"], !isBox || input["checked"] != nil else { continue }
            items.append((name, input["value"] ?? ""))
        }
        for area in try page.all("\(selector)//textarea[@name]") {
            // HTML ignores a line break after the start tag.
            let text = area.text.utf8.first == UInt8(ascii: "\n") ? String(Substring(area.text.utf8.dropFirst())) : area.text
            items.append((area["name"] ?? "", text))
        }
        for select in try page.all("\(selector)//select[@name]") {
            let name = select["name"] ?? ""
            let chosen = try page.all("\(selector)//select[@name='\(name)']/option[@selected]").first
            let first = try page.all("\(selector)//select[@name='\(name)']/option").first
            items.append((name, (chosen ?? first)?["value"] ?? ""))
        }
    }

    /// The value of a field.
    subscript(_ name: String) -> String? {
        get { items.first { $0.name == name }?.value }
        set {
            items.removeAll { $0.name == name }
            if let newValue { items.append((name, newValue)) }
        }
    }

    /// Returns the form with changed values.
    func with(_ changes: KeyValuePairs<String, String>) -> BrowserForm {
        var form = self
        for (name, value) in changes { form[name] = value }
        return form
    }

    /// The URL-encoded body, with line breaks as CR LF.
    var text: String {
        items.map { item in
            "\(PercentEncodedText.encode(item.name))=\(PercentEncodedText.encode(item.value))"
        }.joined(separator: "&")
    }
}

private enum PercentEncodedText {
    static func encode(_ text: String) -> String {
        text.utf8.map { byte in
            byte == UInt8(ascii: "\n") ? "%0D%0A" : "%" + String(UInt16(byte) + 256, radix: 16).dropFirst()
        }.joined()
    }
}
