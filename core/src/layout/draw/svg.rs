//! A drawing for a document: SVG with nothing but rectangles and text, readable on light and on dark pages. A cell's data
//! is its tooltip.
use super::{Cell, Drawing, Panel, Tint, Window};
use std::fmt::Write;

/// Rows and columns of a panel, unless the window names others.
const MOST: usize = 64;
/// Pixels of a character, of a line, and of the border around all.
const CHARACTER: usize = 7;
const LINE: usize = 14;
const MARGIN: usize = 12;

/// Eight hues that differ in lightness too, so that they stay apart in print.
const HUES: [&str; 8] = [
    "#cfe3f7", "#fbd9b5", "#cdebc5", "#f6c6c6", "#ded3ee", "#f7efb2", "#c3ebe6", "#e6e0d8",
];
const OUTSIDE: &str = "#8a8f98";
const GAP: &str = "#f2f2f2";

impl Drawing {
    /// The part in the window as an SVG document.
    pub fn svg(&self, window: &Window) -> String {
        let mut body = String::new();
        let mut y = MARGIN + LINE;
        let mut width = 0;
        let mut line = |text: &str, class: &str, y: &mut usize, body: &mut String| {
            // A string that is formatted into cannot fail.
            let _ = writeln!(
                body,
                "<text class=\"{class}\" x=\"{MARGIN}\" y=\"{y}\">{}</text>",
                escaped(text)
            );
            width = width.max(MARGIN * 2 + text.chars().count() * CHARACTER);
            *y += LINE + 2;
        };
        line(&self.title, "title", &mut y, &mut body);
        for note in &self.notes {
            line(note, "note", &mut y, &mut body);
        }
        let mut panel_width = 0;
        for panel in &self.panels {
            let mut panel = panel.clone();
            let most = |named: bool| if named { usize::MAX } else { MOST };
            panel.cut(window, (most(window.rows.is_some()), most(window.columns.is_some())));
            y += LINE / 2;
            if !panel.caption.is_empty() {
                line(&panel.caption, "note", &mut y, &mut body);
            }
            panel_width = panel_width.max(write_panel(&panel, &mut y, &mut body));
        }
        if !self.listing.is_empty() {
            y += LINE / 2;
            for text in &self.listing {
                line(text, "note", &mut y, &mut body);
            }
        }
        let (width, height) = (width.max(panel_width), y + MARGIN - LINE);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
             <title>{}</title>\n\
             <style>text {{ font: 11px ui-monospace, Menlo, Consolas, monospace; fill: #1c1f24; white-space: pre }} \
             .title {{ font-weight: bold }} .cell {{ text-anchor: middle }} .side {{ text-anchor: end; fill: #5a616b }} \
             .top {{ text-anchor: middle; fill: #5a616b }} .light {{ text-anchor: middle; fill: #ffffff }} \
             rect {{ stroke: #ffffff; stroke-width: 1 }} .framed {{ stroke: #1c1f24; stroke-width: 1.5 }}</style>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{body}</svg>\n",
            escaped(&self.title)
        )
    }
}

/// Writes the table from `y` on and moves `y` below it; the width that it takes.
fn write_panel(panel: &Panel, y: &mut usize, body: &mut String) -> usize {
    let longest = |names: &[String]| names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let (characters, lines) = panel.label_size();
    let cell_width = characters.max(longest(&panel.columns)).max(2) * CHARACTER + 8;
    let cell_height = lines * (LINE - 1) + 7;
    let corner = format!("{} \\ {}", panel.axes.0, panel.axes.1);
    let head = longest(&panel.rows).max(corner.chars().count()) * CHARACTER + 8;
    let left = MARGIN + head;

    let _ = writeln!(
        body,
        "<text class=\"side\" x=\"{}\" y=\"{y}\">{}</text>",
        left - 6,
        escaped(&corner)
    );
    for (i, name) in panel.columns.iter().enumerate() {
        let x = left + i * cell_width + cell_width / 2;
        let _ = writeln!(body, "<text class=\"top\" x=\"{x}\" y=\"{y}\">{}</text>", escaped(name));
    }
    *y += 6;
    for (name, cells) in panel.rows.iter().zip(&panel.cells) {
        let middle = *y + cell_height / 2 + 4;
        let _ = writeln!(
            body,
            "<text class=\"side\" x=\"{}\" y=\"{middle}\">{}</text>",
            left - 6,
            escaped(name)
        );
        for (i, cell) in cells.iter().enumerate() {
            write_cell(cell, left + i * cell_width, *y, (cell_width, cell_height), body);
        }
        *y += cell_height;
    }
    *y += LINE;
    left + panel.columns.len() * cell_width + MARGIN
}

fn write_cell(cell: &Cell, x: usize, y: usize, (width, height): (usize, usize), body: &mut String) {
    let fill = match cell.tint {
        Tint::Plain => "#e9edf2",
        Tint::Hue(hue) => HUES[(hue % 8) as usize],
        Tint::Outside => OUTSIDE,
        Tint::Gap => GAP,
    };
    let class = if cell.tint == Tint::Outside { "light" } else { "cell" };
    let tooltip = tooltip(cell);
    let frame = if cell.framed { "class=\"framed\" " } else { "" };
    let _ = write!(
        body,
        "<rect {frame}x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\""
    );
    let _ = match tooltip.is_empty() {
        true => writeln!(body, "/>"),
        false => writeln!(body, "><title>{}</title></rect>", escaped(&tooltip)),
    };
    let count = cell.label.lines().count();
    for (i, text) in cell.label.lines().enumerate() {
        let baseline = y + height / 2 + 4 + i * (LINE - 1) - (count - 1) * (LINE - 1) / 2;
        let _ = writeln!(
            body,
            "<text class=\"{class}\" x=\"{}\" y=\"{baseline}\">{}</text>",
            x + width / 2,
            escaped(text)
        );
    }
}

fn tooltip(cell: &Cell) -> String {
    let pairs = cell.data.iter().map(|(name, value)| match value {
        serde_json::Value::String(text) => format!("{name} {text}"),
        other => format!("{name} {other}"),
    });
    pairs.collect::<Vec<_>>().join(", ")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;

    #[test]
    fn every_cell_is_a_rectangle_with_its_text() {
        let svg = sample().svg(&Window::default());
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
        // One rectangle a cell, and one behind all.
        assert_eq!(svg.matches("<rect ").count(), 13);
        assert_eq!(svg.matches("class=\"cell\"").count(), 24);
        assert!(svg.contains("places &lt;&amp;&gt;") && !svg.contains("<&>"));
        assert_eq!(svg, sample().svg(&Window::default()));
    }

    #[test]
    fn tags_close() {
        let svg = sample().svg(&Window::default());
        for tag in ["svg", "text", "title", "style"] {
            let opened = svg.matches(&format!("<{tag}>")).count() + svg.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, svg.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
}
