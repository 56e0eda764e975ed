import Testing

@testable import HearthCLI

@Suite("RGB colors")
struct RGBColorTests {
    @Test(arguments: [
        (RGBColor(red: 255, green: 0, blue: 0), ["red"]), (RGBColor(red: 0, green: 0, blue: 128), ["blue", "dark"]),
        (RGBColor(red: 152, green: 251, blue: 152), ["green", "light"]),
        (RGBColor(red: 0, green: 0, blue: 0), ["black", "dark"]),
        (RGBColor(red: 255, green: 255, blue: 255), ["white", "light"]), (RGBColor(red: 128, green: 128, blue: 128), ["gray"]),
        (RGBColor(red: 255, green: 20, blue: 147), ["pink"]), (RGBColor(red: 255, green: 0, blue: 60), ["red"]),
    ])
    func `Tags follow from hue and lightness`(color: RGBColor, tags: [String]) {
        #expect(color.tags == tags)
    }
}
